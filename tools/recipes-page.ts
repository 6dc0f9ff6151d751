// npm run docs:recipes: generates docs/recipes.md.
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runCommand } from './command.ts';
import { makePage } from './recipes/page.ts';

await runCommand(async () => {
  await writeFile(fileURLToPath(new URL('../docs/recipes.md', import.meta.url)), await makePage());
});
