import { basename } from 'node:path/posix';
import { type Chapter, type RecipeFile, chapters, recipeFiles, subjects } from './catalogue.ts';
import { type Recipe, readRecipe } from './read-recipe.ts';

const FENCES: Record<string, string> = { sh: 'sh', py: 'python', R: 'r', sql: 'sql' };

interface Section {
  readonly file: RecipeFile;
  readonly recipe: Recipe;
  /** With the chapter's name, so that no two are the same on the page. */
  readonly heading: string;
}

interface ChapterText {
  readonly about: Recipe;
  readonly sections: readonly Section[];
}

/** @returns docs/recipes.md as it has to be: made of the files in `recipes/` */
export async function makePage(): Promise<string> {
  const about = await readRecipe('about.md');
  const texts = await Promise.all(chapters.map(readChapter));
  const parts = [
    `# ${about.title}`,
    '<!-- Made by "npm run docs:recipes" from the files in recipes/. Edit those. -->',
    about.explanation,
    subjectTable(texts),
    whatIsRun(),
    ...texts.flatMap(chapterParts),
  ];
  return `${parts.join('\n\n')}\n`;
}

async function readChapter({ folder, recipes }: Chapter): Promise<ChapterText> {
  const about = await readRecipe(`${folder}/about.md`);
  const sections = await Promise.all(
    recipes.map(async (file): Promise<Section> => {
      const recipe = await readRecipe(file.path);
      return { file, recipe, heading: `${recipe.title} (${about.title})` };
    }),
  );
  return { about, sections };
}

function chapterParts({ about, sections }: ChapterText): string[] {
  return [`## ${about.title}`, about.explanation, ...sections.flatMap(sectionParts)];
}

function sectionParts({ file, recipe, heading }: Section): string[] {
  const fence = FENCES[file.path.slice(file.path.lastIndexOf('.') + 1)];
  const parts = [`### ${heading}`, recipe.explanation];
  if (file.language === undefined) return [...parts, '_Not run by `npm run recipes`: it takes a person to click._'];
  return [...parts, `[recipes/${file.path}](../recipes/${file.path}):`, `\`\`\`${fence}\n${recipe.code}\n\`\`\``];
}

/** Which language has a recipe for what. */
function subjectTable(texts: readonly ChapterText[]): string {
  const rows = Object.entries<string>(subjects).map(([subject, words]) =>
    [words].concat(texts.map(({ sections }) => links(sections.filter(({ file }) => file.subject === subject)))),
  );
  const table = [['', ...texts.map(({ about }) => about.title)], ...rows];
  const widths = table[0]?.map((_, column) => Math.max(3, ...table.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = table.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  lines.splice(1, 0, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`);
  return lines.join('\n');
}

function links(sections: readonly Section[]): string {
  return sections.map(({ file, heading }) => `[\`${basename(file.path)}\`](#${anchorOf(heading)})`).join(', ');
}

/** As GitHub makes it of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function whatIsRun(): string {
  const byHand = recipeFiles.filter(({ language }) => language === undefined).map(({ path }) => `\`${path}\``);
  return [
    'The programs below are the very files that `npm run recipes` runs against the service, checking what comes out: files against',
    'plain downloads, byte for byte, over connections that break off. It says `not run` of those whose language is not on the',
    `machine. Nobody but you runs ${byHand.join(' and ')}.`,
  ].join('\n');
}
