import { type Client, DatabaseError } from 'pg';
import { formatInstant, type Microseconds } from '../../src/responses/timestamp.ts';
import { findOrCreateAccount } from '../accounts.ts';
import { counted, messageOf, UserError } from '../command.ts';
import { inTransaction, withConnection } from '../connection.ts';
import { printable } from '../keys/printable.ts';
import { ADVISORY_LOCK, migrate } from '../migrations.ts';
import { shown } from './bad-line.ts';
import { formsFile, responsesFile } from './columns.ts';
import { checkVersions, type Counts, storeForms } from './forms.ts';
import { cancelWhenAborted, type ImportOptions } from './import-files.ts';
import { loadFile } from './load-file.ts';
import { loadValid } from './load-valid.ts';
import { storeResponses } from './responses.ts';
import { type JsonObject, type Source, SourceFailure } from './source.ts';
import { placeOf, withExactTime } from './source-rows.ts';

const PAGE_SIZE = 5_000;
const PART_BYTES = 65_536;
/** After how many failures a page is made smaller. */
const ATTEMPTS_PER_SIZE = 3;
/** How many are named: rows of a survey that cannot be stored, and surveys. */
const MAX_NAMED = 20;
/** The longest name or token that is sent; characters. No server accepts longer ones. */
const MAX_TEXT = 8_000;

export interface CopyInput {
  email: string;
  /** Names of surveys to copy; all if undefined. */
  survey?: readonly string[];
  /** The time of the first response to copy. */
  since?: Microseconds;
}

/** What happened to a survey: what was copied before an error too. */
export interface SurveyCopy {
  readonly name: string;
  forms: Counts;
  responses: Counts;
  /** Responses that could not be stored. */
  refused: number;
  /** Stored responses that the source does not have; undefined if that was not looked for. */
  missing?: number;
  error?: string;
}

const none = (): Counts => ({ new: 0, changed: 0, unchanged: 0 });

/**
 * Copies surveys from a running service, page by page, each in its own transaction. It keeps no
 * state: whatever ends it, the next run completes it. A survey that fails does not prevent the
 * others.
 *
 * @param url `postgres://` URL of a user who may migrate
 * @throws UserError if the surveys cannot be listed
 * @throws the signal's reason once it is aborted
 */
export async function copySurveys(
  url: string,
  source: Source,
  input: CopyInput,
  options: Required<ImportOptions>,
): Promise<SurveyCopy[]> {
  const { signal, onProgress, dryRun } = options;
  onProgress('listing', 'surveys');
  const listed = await source.retrying('/surveys', () => source.objects('/surveys'));
  const found = Map.groupBy(listed, (version) =>
    String(version['survey_name']).slice(0, MAX_TEXT).toWellFormed(),
  );
  if (!dryRun) await migrate(url);
  return withConnection(url, async (client) => {
    using _ = await cancelWhenAborted(url, client, signal);
    onProgress('waiting', 'for the account');
    // until the connection ends
    await client.query('select pg_advisory_lock($1, hashtext(lower($2)))', [
      ADVISORY_LOCK,
      input.email,
    ]);

    const copies: SurveyCopy[] = [];
    for (const name of new Set(input.survey ?? found.keys())) {
      const copy: SurveyCopy = { name, forms: none(), responses: none(), refused: 0 };
      copies.push(copy);
      onProgress(shown(name), 'form versions');
      try {
        const versions = found.get(name);
        const names = [...found.keys()].slice(0, MAX_NAMED).map(shown).join(', ');
        if (!versions) throw new UserError(`the source has no such survey, but ${names}`);
        await copySurvey(client, source, input, versions, copy, options);
      } catch (error) {
        signal.throwIfAborted(); // instead of Postgres' error for a cancelled statement
        // of a value that is invalid or too long, or of an id that is repeated
        const isRefusal = error instanceof DatabaseError && /^(2[12]|54)/.test(error.code ?? '');
        if (!isRefusal && !(error instanceof UserError)) throw error;
        copy.error = messageOf(error);
      }
    }

    // as after an import of files
    if (!dryRun) await client.query('vacuum (analyze) responses').catch(() => {});
    return copies;
  });
}

async function copySurvey(
  client: Client,
  source: Source,
  { email, since }: CopyInput,
  versions: readonly JsonObject[],
  copy: SurveyCopy,
  { signal, onProgress, onNotice, dryRun }: Required<ImportOptions>,
): Promise<void> {
  const name = shown(copy.name);
  const ids = new Set(versions.map(({ id }) => id));
  const columns = Object.keys(responsesFile.columns);
  const { forms, survey } = await readForms(source, copy.name, versions);
  // With the form versions each time: nothing is left of them after a dry run.
  const store = (page: readonly JsonObject[]) =>
    inTransaction(client, async () => {
      const total = await loadFile(client, forms, formsFile, { signal, onProgress() {}, onNotice });
      if (total < ids.size) throw new UserError('/responses/form-data lacks form versions');
      await checkVersions(client);
      const { account } = await findOrCreateAccount(client, email);
      const formCounts = await storeForms(client, account.id, total, JSON.stringify(versions));
      const rows = page.map((response) => columns.map((column) => response[column] ?? null));
      const refused = await loadValid(client, responsesFile, rows);
      const count = page.length - refused.length;
      const responses = await storeResponses(client, account.id, count, false);
      if (dryRun) await client.query('rollback'); // leaves nothing to commit
      return { forms: formCounts, responses, refused };
    });

  copy.forms = (await store([])).forms;
  const ends = new Set<string>(); // of pages, which have to differ
  let previous = new Set<unknown>(); // tokens: the platform's pages can repeat rows
  let newest = -Infinity;
  let read = 0;
  let large = 0;
  for await (const page of pagesOf(source, copy.name, survey, since, () => (large += 1))) {
    for (const response of page) {
      const time = Date.parse(response['timestamp'] ?? '');
      if (time < newest) throw new UserError(`the time decreases at ${placeOf(response)}`);
      newest = time || newest;
      if (!ids.has(response['surveyid']))
        throw new UserError(
          `the form version ${shown(response['surveyid'])} is not of this survey, at ${placeOf(response)}`,
        );
    }

    const final = page.at(-1) ?? {};
    const last = placeOf(final);
    const end = responsesFile.key.map((column) => final[column]).join('\n');
    if (ends.has(end))
      throw new UserError(
        `a page is repeated at ${last}: the platform cannot continue after a comma`,
      );
    ends.add(end);
    const added = page.filter(({ token }) => !previous.has(token));
    previous = new Set(page.map(({ token }) => token));
    const { responses, refused } = await store(added);

    for (const kind of ['new', 'changed', 'unchanged'] as const)
      copy.responses[kind] += responses[kind];
    for (const { line, reason } of refused.slice(0, Math.max(MAX_NAMED - copy.refused, 0)))
      onNotice(`${name}: left out ${placeOf(added[line] ?? {})}: ${printable(reason)}`);
    copy.refused += refused.length;
    read += added.length;
    onProgress(name, `${counted(read, 'response')}, up to ${last}`);
  }

  if (large > 0)
    onNotice(
      `${name}: ${counted(large, 'number')} beyond 2^53, which the platform may have rounded`,
    );
  if (since !== undefined) return;
  const stored = await client.query<{ count: string }>(
    'select count(*) from responses where surveyid = any($1)',
    [[...ids]],
  );

  const { new: added, changed, unchanged } = copy.responses;
  copy.missing = Number(stored.rows[0]?.count) - (dryRun ? 0 : added) - changed - unchanged;
}

/**
 * The form versions of a survey, with the exact times of `/responses/form-data`.
 *
 * @returns also how that endpoint takes the survey's name: the platform decodes it twice
 */
function readForms(source: Source, name: string, versions: readonly JsonObject[]) {
  return source.retrying('/responses/form-data', async (attempt) => {
    const once = encodeURIComponent(name);
    const survey = attempt % 2 === 0 ? once : encodeURIComponent(once);
    const body = await source.get('/responses/form-data', `survey=${survey}&missing=404`);
    if (!body.includes(String(versions[0]?.['id'])))
      throw new SourceFailure('lacks form versions of /surveys');
    // In parts, because the records of each become objects.
    async function* content() {
      for (let at = 0; at < body.length; at += PART_BYTES) yield body.subarray(at, at + PART_BYTES);
    }

    return { forms: { path: 'form-data', content, progress: () => '' }, survey };
  });
}

/**
 * The pages of a survey, one request at a time, up to the first empty one.
 *
 * @param survey its name as the endpoints of CSV take it
 */
async function* pagesOf(
  source: Source,
  name: string,
  survey: string,
  since: Microseconds | undefined,
  onLargeNumber: () => void,
): AsyncGenerator<JsonObject[], void> {
  let size = PAGE_SIZE;
  let last: JsonObject | undefined;
  const query = new URLSearchParams({ survey: name, missing: '404' });
  // The older form of a token, which both the platform and this service take.
  if (since !== undefined) query.set('after', btoa(`${formatInstant(since)},,`));
  for (;;) {
    const page = await source.retrying(
      last ? `/responses after ${placeOf(last)}` : '/responses',
      async (attempt) => {
        if (attempt > 0 && attempt % ATTEMPTS_PER_SIZE === 0) size = Math.ceil(size / 10);
        query.set('pageSize', String(size));
        try {
          return await source.objects('/responses', String(query), onLargeNumber);
        } catch (error) {
          if (!(error instanceof SourceFailure && error.response?.status === 500)) throw error;
          // The platform's API has no other sign of an empty survey.
          const csv = () => source.get('/responses/csv', `survey=${survey}`, 0).catch(() => {});
          if (!last && (await csv())) return [];
          throw new SourceFailure(
            `${error.message}, which the platform returns for characters beyond Latin-1`,
            error.response,
          );
        }
      },
    );

    const rows = page.map(withExactTime);
    last = rows.at(-1);
    if (!last) return;
    yield rows;
    query.set('after', String(last['token']).slice(0, MAX_TEXT));
  }
}
