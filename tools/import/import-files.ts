import type { Client } from 'pg';
import { UserError } from '../command.ts';
import { migrate } from '../migrations.ts';
import { BadLine } from './bad-line.ts';
import { inBatches } from './batches.ts';
import { inTransaction, withConnection } from '../connection.ts';
import { addCounts, type Counts } from './counts.ts';
import { type FormRow, formColumns, formIdsOf, writeForms } from './forms.ts';
import { readAhead } from './read-ahead.ts';
import { InputFile } from './input-file.ts';
import { readRows } from './read-rows.ts';
import { rememberLines, responseColumns, writeResponses } from './responses.ts';
import { writeBatch } from './write-batch.ts';

export interface ImportInput {
  /** The account that the files are for; made if there is none. */
  email: string;
  /** Paths of the two files, plain or gzip: exports of `/responses/form-data` and `/responses/csv`. */
  forms: string;
  responses: string;
}

export interface ImportSummary {
  isNewAccount: boolean;
  forms: Counts;
  responses: Counts;
}

export interface ImportOptions {
  /** Called after each batch of responses. */
  onProgress?: (progress: ImportProgress) => void;
  /** Ends the import at the next batch of responses: nothing is loaded then. */
  signal?: AbortSignal;
}

export interface ImportProgress {
  /** Responses written so far. */
  rows: number;
  /** Bytes of the responses file read so far, as it lies on the disk. */
  bytesRead: number;
  /** Its size in bytes; null where nobody knows it. */
  size: number | null;
}

/**
 * Brings a database to the newest schema, then loads two files into it in one transaction: all of it or, on any error,
 * nothing. What is stored afterwards is what the files say: rows that are there already with other values are changed;
 * rows that are not in the files stay. So a second run changes nothing.
 *
 * @param url `postgres://` URL of a user who may migrate; one connection is used
 * @throws UserError for a file that cannot be read or a line that cannot be loaded, naming file and line
 * @throws the signal's reason when it was aborted
 */
export async function importFiles(
  url: string,
  input: ImportInput,
  options: ImportOptions = {},
): Promise<ImportSummary> {
  const forms = await InputFile.open(input.forms);
  const responses = await InputFile.open(input.responses);
  await migrate(url);
  return await withConnection(url, async (client) => {
    const summary = await inTransaction(client, async () => {
      const { id: account, isNew: isNewAccount } = await findOrMakeAccount(client, input.email);
      const formCounts = await namingFile(forms, () => importForms(client, account, forms));
      const responseCounts = await namingFile(responses, () => importResponses(client, account, responses, options));
      return { isNewAccount, forms: formCounts, responses: responseCounts };
    });
    // The export reads keys from the index alone, which Postgres does only for pages that a vacuum has seen. The embedded
    // database has no autovacuum, and a server's takes its time. Only speed hangs on it, so it may fail.
    if (summary.responses.new + summary.responses.changed > 0) {
      await client.query('vacuum (analyze) responses').catch(() => {});
    }
    return summary;
  });
}

async function findOrMakeAccount(client: Client, email: string): Promise<{ id: string; isNew: boolean }> {
  const { rowCount } = await client.query('insert into users (email) values ($1) on conflict do nothing', [email]);
  const { rows } = await client.query<{ id: string }>('select id from users where email = $1', [email]);
  const [account] = rows;
  if (!account) throw new Error('the account was deleted by another program in this very moment');
  return { id: account.id, isNew: rowCount === 1 };
}

async function importForms(client: Client, account: string, file: InputFile): Promise<Counts> {
  const rows: FormRow[] = []; // all in memory: a survey has dozens of form versions, not millions
  for await (const piece of readRows(file.content(), formColumns)) rows.push(...piece);
  return await writeBatch(client, rows, (some) => writeForms(client, account, some));
}

async function importResponses(
  client: Client,
  account: string,
  file: InputFile,
  options: ImportOptions,
): Promise<Counts> {
  const forms = await formIdsOf(client, account);
  await rememberLines(client);
  let counts: Counts = { new: 0, changed: 0, unchanged: 0 };
  for await (const batch of readAhead(inBatches(readRows(file.content(), responseColumns)))) {
    options.signal?.throwIfAborted();
    counts = addCounts(counts, await writeBatch(client, batch, (rows) => writeResponses(client, forms, rows)));
    const rows = counts.new + counts.changed + counts.unchanged;
    options.onProgress?.({ rows, bytesRead: file.bytesRead, size: file.size });
  }
  options.signal?.throwIfAborted();
  return counts;
}

async function namingFile<T>(file: InputFile, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BadLine)) throw error;
    await file.checkGzip();
    throw new UserError(`${file.path} ${error.message}`, { cause: error });
  }
}
