import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hashApiKey } from '../../src/auth/api-key.ts';
import { note } from '../command.ts';
import { withConnection } from '../connection.ts';
import { DEMO, loadDemoData } from '../demo-data.ts';
import { issueKey } from '../keys/issue.ts';
import { inPlainWords } from '../postgres/data-folder.ts';

/**
 * Loads the demo data into an empty database and issues a key for it. The key is kept in `dataDir`,
 * readable by its owner only, so that later starts can show it again. If it has been revoked, they
 * issue another.
 *
 * @returns the key; undefined if the database holds other data
 */
export async function prepareDemo(url: string, dataDir: string): Promise<string | undefined> {
  const file = join(dataDir, 'demo.json');
  const stored = await readFile(file, 'utf8')
    .then((text) => (JSON.parse(text) as { key?: string }).key)
    .catch(() => undefined);
  const hash = stored === undefined ? null : await hashApiKey(stored);
  const select = `
    select not exists (select from users) as "isEmpty", exists (select from users where email = $1) as "hasDemo",
      exists (select from api_keys where hash = $2 and revoked is null and coalesce(expires > now(), true)) as "isActive"`;
  const { rows } = await withConnection(url, (client) =>
    client.query<Record<'isEmpty' | 'hasDemo' | 'isActive', boolean>>(select, [DEMO.email, hash]),
  );

  const { isEmpty, hasDemo, isActive } = rows[0] ?? {};
  if (isActive) return stored;
  if (isEmpty) {
    note('Loading demo data …');
    await loadDemoData(url);
  } else if (!hasDemo) return undefined;

  const { key } = await issueKey(url, { email: DEMO.email, name: 'demo' });
  await writeFile(file, `${JSON.stringify({ key })}\n`, { mode: 0o600 }).catch((error: unknown) => {
    throw inPlainWords(error, dataDir);
  });

  return key;
}
