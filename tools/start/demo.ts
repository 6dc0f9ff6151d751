import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withConnection } from '../connection.ts';
import { loadDemoData } from '../demo-data.ts';
import { issueKey } from '../keys/issue.ts';

/** What you need to try the service. */
export interface Demo {
  readonly key: string;
  readonly survey: string;
}

/**
 * Loads the demo data into an empty database and issues a key for it. The key is kept in `dataDir`, readable by its owner
 * only, so that later starts can show it again.
 *
 * @returns undefined if the database holds other data
 */
export async function prepareDemo(url: string, dataDir: string): Promise<Demo | undefined> {
  const file = join(dataDir, 'demo.json');
  if (!(await isEmpty(url))) return readDemo(file);
  process.stderr.write('Loading demo data …\n');
  const { email, surveys } = await loadDemoData(url);
  const { key } = await issueKey(url, { email, name: 'demo' });
  const demo: Demo = { key, survey: surveys[0] ?? '' };
  await mkdir(dataDir, { recursive: true });
  await writeFile(file, `${JSON.stringify(demo)}\n`, { mode: 0o600 });
  return demo;
}

async function readDemo(file: string): Promise<Demo | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Demo;
  } catch {
    return undefined;
  }
}

async function isEmpty(url: string): Promise<boolean> {
  const { rowCount } = await withConnection(url, (client) => client.query('select 1 from users limit 1'));
  return rowCount === 0;
}
