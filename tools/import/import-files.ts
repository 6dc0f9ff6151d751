import { addAbortListener } from 'node:events';
import type { Client } from 'pg';
import { findAccount, findOrCreateAccount } from '../accounts.ts';
import { counted, UserError } from '../command.ts';
import { inTransaction, limitLockWaits, withConnection } from '../connection.ts';
import { applyMigrations } from '../migrations.ts';
import { BadLine } from './bad-line.ts';
import { type FileFormat, formsFile, responsesFile } from './columns.ts';
import { checkVersions, storeForms } from './forms.ts';
import { type InputFile, openInput } from './input-file.ts';
import { type LoadOptions, loadFile } from './load-file.ts';
import { storeResponses } from './responses.ts';

export interface ImportInput {
  /** The account to load the files for; created if it does not exist. */
  email: string;
  /**
   * Paths of the two files, plain or gzip: exports of `/responses/form-data` and `/responses/csv`.
   */
  forms: string;
  responses: string;
}

export interface ImportOptions extends Partial<LoadOptions> {
  /** Whether to roll everything back at the end. */
  dryRun?: boolean;
}

/** The account, with its address as it is stored, and what happened to the rows of both files. */
export type ImportSummary = Awaited<ReturnType<typeof importFiles>>;

/**
 * Loads two files into a database, which it migrates first, in one transaction: everything, or
 * nothing on any error. Stored rows with other values are updated; rows that are not in the files
 * stay. A second run changes nothing.
 *
 * @param url `postgres://` URL of a user who may migrate
 * @throws UserError for a file that cannot be read or a line that cannot be loaded, naming file and
 * line
 * @throws the signal's reason once it is aborted
 */
export async function importFiles(url: string, input: ImportInput, options: ImportOptions = {}) {
  const { onProgress = () => {}, onNotice = () => {}, dryRun } = options;
  const { signal = new AbortController().signal } = options;
  const forms = await openInput(input.forms);
  const responses = await openInput(input.responses);
  return await withConnection(url, async (client) => {
    using _ = await cancelWhenAborted(url, client, signal);
    let applied: string[] = [];
    const summary = await inTransaction(client, async () => {
      applied = await limitLockWaits(client, () => applyMigrations(client));
      // an import waits for another one until that has ended
      await client.query('reset lock_timeout');
      // refuses an ambiguous address before it reads the files
      await findAccount(client, input.email);
      const load = (file: InputFile, format: FileFormat) =>
        namingFile(file, () => loadFile(client, file, format, { signal, onProgress, onNotice }));
      const formRows = await load(forms, formsFile);

      const renumbered = await namingFile(forms, () => checkVersions(client));
      if (renumbered !== undefined) onNotice(`${forms.path} ${renumbered}`);
      const rows = await load(responses, responsesFile);

      onProgress('checking responses', counted(rows, 'row'));
      // locked only from here on
      const { account, isNew: isNewAccount } = await findOrCreateAccount(client, input.email);
      const formCounts = await namingFile(forms, () => storeForms(client, account.id, formRows));
      onProgress('writing responses', counted(rows, 'row'));
      const responseCounts = await namingFile(responses, () =>
        storeResponses(client, account.id, rows, true),
      );

      signal.throwIfAborted();
      if (dryRun) await client.query('rollback'); // leaves nothing to commit
      return { email: account.email, isNewAccount, forms: formCounts, responses: responseCounts };
    }).catch((error: unknown) => {
      signal.throwIfAborted(); // instead of Postgres' error for a cancelled statement
      throw error;
    });

    if (applied.length > 0 && !dryRun) onNotice(`applied ${applied.join(', ')}`);
    // An index-only scan, as for page boundaries, needs vacuumed pages, and autovacuum may come
    // late. Only speed depends on it, so it may fail.
    if (summary.responses.new + summary.responses.changed > 0) {
      await client.query('vacuum (analyze) responses').catch(() => {});
    }

    return summary;
  });
}

/** Cancels the statement in progress when the signal is aborted. */
export async function cancelWhenAborted(
  url: string,
  client: Client,
  signal: AbortSignal,
): Promise<Disposable> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return addAbortListener(signal, () => {
    withConnection(url, (other) =>
      other.query('select pg_cancel_backend($1)', [rows[0]?.pid]),
    ).catch(() => {});
  });
}

async function namingFile<T>(file: InputFile, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BadLine)) throw error;
    await file.checkGzip();
    throw new UserError(`${file.path} ${error.message}`);
  }
}
