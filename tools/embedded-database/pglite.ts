import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import type { Backend } from './session.ts';

/**
 * Opens the Postgres whose files are in `folder`, making it (with UTF-8 text, sorted by code point) when there is none.
 * What it has committed survives the death of the process: its files are written before it answers.
 */
export async function openPGlite(folder: string): Promise<Backend & { close(): Promise<void> }> {
  if (!existsSync(folder)) await create(folder);
  let database = await PGlite.create(folder);
  return {
    async run(messages) {
      const answer: Buffer[] = [];
      try {
        // The bytes are PGlite's memory, which it uses again.
        await database.execProtocolRawStream(messages, { onRawData: (bytes) => void answer.push(Buffer.from(bytes)) });
      } catch (error) {
        // The backend ended, as a real one would on a FATAL error or on pg_terminate_backend: the next one takes over.
        database = await PGlite.create(folder);
        throw error;
      }
      return answer;
    },
    close: () => database.close(),
  };
}

/** Under another name until it is whole: a process killed meanwhile must not leave half a database. */
async function create(folder: string): Promise<void> {
  const draft = `${folder}.new`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(dirname(folder), { recursive: true });
  const database = await PGlite.create(draft);
  await database.close();
  await rename(draft, folder);
}
