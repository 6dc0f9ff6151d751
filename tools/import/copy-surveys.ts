import type { Client } from 'pg';
import { formatInstant, type Microseconds } from '../../src/responses/timestamp.ts';
import { findAccount, findOrCreateAccount } from '../accounts.ts';
import { counted, messageOf, UserError } from '../command.ts';
import { inTransaction, limitLockWaits, withConnection } from '../connection.ts';
import { printable } from '../keys/printable.ts';
import { ADVISORY_LOCK, applyMigrations } from '../migrations.ts';
import { BadLine, shown } from './bad-line.ts';
import { formsFile, formDetails, sourceForms, sourceResponses } from './columns.ts';
import { checkVersions, type Counts, storeDetails, storeForms } from './forms.ts';
import { parseHeader } from './header.ts';
import { cancelWhenAborted } from './import-files.ts';
import { type LoadOptions, loadRows, type Row, rowOf } from './load-file.ts';
import { recordsOf } from './records.ts';
import { checkResponses, compareWithStored, storeResponses } from './responses.ts';
import { type Source, SourceFailure } from './source.ts';
import {
  followOrder,
  type JsonObject,
  olderTokenTime,
  placeOf,
  refusalOf,
  RESPONSE_COLUMNS,
  rowOfObject,
  withExactTime,
} from './source-rows.ts';

/** A page is asked for in this many responses, and in fewer after three failures. */
const PAGE_SIZES = [5_000, 500, 50];
const ATTEMPTS_PER_SIZE = 3;
/** How many rows that cannot be stored are named, and how many a page may have. */
const MAX_NAMED = 20;
const MAX_REFUSED_BY_POSTGRES = 100;

export interface CopyInput {
  email: string;
  /** Names of surveys to copy; empty for all. */
  surveys: readonly string[];
  /** The time of the first response to copy. */
  since?: Microseconds | undefined;
}

export interface CopyOptions extends LoadOptions {
  dryRun: boolean;
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
 * @throws SourceFailure if the surveys cannot be listed
 * @throws the signal's reason once it is aborted
 */
export async function copySurveys(
  url: string,
  source: Source,
  input: CopyInput,
  options: CopyOptions,
): Promise<SurveyCopy[]> {
  const { email, surveys: wanted } = input;
  const { signal, onNotice, onProgress, dryRun } = options;
  const found = await source.retrying(() => listSurveys(source)).catch(naming('/surveys'));
  return await withConnection(url, async (client) => {
    using _ = await cancelWhenAborted(url, client, signal);
    if (!dryRun)
      await limitLockWaits(url, client, () => inTransaction(client, () => applyMigrations(client)));
    await client.query('reset lock_timeout');
    await findAccount(client, email);
    await lockAccount(client, email, onNotice);

    const copies: SurveyCopy[] = [];
    let named = 0;
    const onRefusal = (text: string) => {
      named += 1;
      if (named <= MAX_NAMED) onNotice(printable(text));
    };

    for (const name of wanted.length > 0 ? new Set(wanted) : found.keys()) {
      const copy: SurveyCopy = { name, forms: none(), responses: none(), refused: 0 };
      copies.push(copy);
      onProgress(shown(name), 'form versions');
      try {
        const versions = found.get(name);
        if (!versions) throw new UserError('the source has no survey of this name');
        await copySurvey(client, source, input, versions, copy, { ...options, onRefusal });
      } catch (error) {
        signal.throwIfAborted(); // instead of Postgres' error for a cancelled statement
        if (!(error instanceof UserError || error instanceof BadLine)) throw error;
        copy.error = `${error instanceof BadLine ? '/responses/form-data ' : ''}${messageOf(error)}`;
      }
    }

    if (copies.some(({ responses }) => responses.new + responses.changed > 0) && !dryRun)
      await client.query('vacuum (analyze) responses').catch(() => {}); // as after an import of files
    return copies;
  });
}

/** The form versions of `/surveys`, by the name of their survey, in the order of names. */
async function listSurveys(source: Source): Promise<Map<string, JsonObject[]>> {
  const versions = objects(source.parse(await source.get('/surveys')));
  const isNamed = ({ survey_name: name, id }: JsonObject) =>
    typeof name === 'string' && name.isWellFormed() && typeof id === 'string';
  if (!versions.every(isNamed)) throw new SourceFailure('is not a list of form versions');
  const named = Map.groupBy(versions, (version) => version['survey_name'] as string);
  return new Map([...named].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function objects(value: unknown): JsonObject[] {
  if (!Array.isArray(value) || !value.every((item) => item !== null && typeof item === 'object'))
    throw new SourceFailure('is not a list of objects');
  return value as JsonObject[];
}

/** Names the request in an error. */
const naming =
  (request: string) =>
  (error: unknown): never => {
    if (!(error instanceof SourceFailure)) throw error;
    throw new UserError(`${request} ${error.message}`, { cause: error });
  };

/** Locks the account until the connection ends, so that one import runs at a time. */
async function lockAccount(client: Client, email: string, onNotice: (notice: string) => void) {
  const key = [ADVISORY_LOCK, email];
  const { rows } = await client.query<{ isLocked: boolean }>(
    'select pg_try_advisory_lock($1, hashtext(lower($2))) as "isLocked"',
    key,
  );

  if (rows[0]?.isLocked) return;
  onNotice('waiting: another import for this account is running');
  await client.query('select pg_advisory_lock($1, hashtext(lower($2)))', key);
}

async function copySurvey(
  client: Client,
  source: Source,
  { email, since }: CopyInput,
  versions: readonly JsonObject[],
  copy: SurveyCopy,
  options: CopyOptions & { onRefusal: (text: string) => void },
): Promise<void> {
  const { signal, onProgress, onNotice, dryRun } = options;
  const { name } = copy;
  const ids = new Set(versions.map(({ id }) => String(id)));
  const { rows: forms, columns, survey } = await readForms(source, name, versions);

  const loadForms = async (notify: (notice: string) => void = () => {}): Promise<string> => {
    await loadRows(client, sourceForms, columns, [forms], signal);
    const renumbered = await checkVersions(client);
    if (renumbered !== undefined) notify(`${shown(name)}: form version on ${renumbered}`);
    const { account } = await findOrCreateAccount(client, email);
    copy.forms = await storeForms(client, account.id, forms.length);
    const written = await storeDetails(client);
    copy.forms.changed = written - copy.forms.new;
    copy.forms.unchanged = forms.length - written;
    return account.id;
  };

  const rollBack = () => dryRun && client.query('rollback'); // leaves nothing to commit
  const account = await inTransaction(client, async () => {
    const id = await loadForms(onNotice);
    await rollBack();
    return id;
  });

  const storePage = (rows: Row[]) =>
    inTransaction(client, async () => {
      const id = dryRun ? await loadForms() : account;
      await loadRows(client, sourceResponses, RESPONSE_COLUMNS, [rows], signal);
      await checkResponses(client, id);
      const { changed, unchanged } = await compareWithStored(client);
      await storeResponses(client);
      await rollBack();
      return { new: rows.length - changed - unchanged, changed, unchanged };
    });

  const order = followOrder();
  let read = 0;
  let large = 0;
  let isRounded = false;
  const onLargeNumber = () => (large += 1);
  for await (const page of pagesOf(source, name, survey, since, onLargeNumber)) {
    isRounded ||= olderTokenTime(page.at(-1)?.['token']) !== undefined;
    const added = order.take(page.map(withExactTime));
    const stranger = added.find(({ surveyid }) => !ids.has(String(surveyid)));
    if (stranger)
      throw new UserError(
        `its responses have the form version ${shown(String(stranger['surveyid']))}, which is not among those of the survey, at ${placeOf(stranger)}`,
      );

    const refuse = (line: number, reason: string) => {
      copy.refused += 1;
      options.onRefusal(`${shown(name)}: left out ${placeOf(added[line] ?? {})}: ${reason}`);
    };

    let rows = added.map((response, line) => rowOfObject(response, line, sourceResponses));
    rows = rows.filter((row) => {
      const reason = refusalOf(row);
      if (reason !== undefined) refuse(row.line, reason);
      return reason === undefined;
    });

    const counts = await storeAllowed(rows, storePage, refuse);
    for (const kind of ['new', 'changed', 'unchanged'] as const)
      copy.responses[kind] += counts[kind];
    read += added.length;
    onProgress(
      shown(name),
      `${counted(read, 'response')}, up to ${shown(String(page.at(-1)?.['timestamp']))}`,
    );
  }

  if (isRounded && large > 0)
    onNotice(
      `${shown(name)}: ${counted(large, 'number')} in metadata beyond 2^53, which the platform rounds`,
    );
  if (since === undefined) copy.missing = await countMissing(client, [...ids], copy, dryRun);
}

/** Stores a page without the rows that Postgres refuses. */
async function storeAllowed(
  page: readonly Row[],
  store: (rows: Row[]) => Promise<Counts>,
  refuse: (line: number, reason: string) => void,
): Promise<Counts> {
  let rows = [...page];
  for (let refused = 0; ; refused += 1) {
    try {
      return await store(rows);
    } catch (error) {
      if (!(error instanceof BadLine)) throw error;
      if (refused === MAX_REFUSED_BY_POSTGRES)
        throw new UserError('a page has too many responses that cannot be stored', {
          cause: error,
        });
      refuse(error.line, error.reason);
      rows = rows.filter(({ line }) => line !== error.line);
    }
  }
}

async function countMissing(
  client: Client,
  ids: readonly string[],
  { responses }: SurveyCopy,
  dryRun: boolean,
): Promise<number> {
  const { rows } = await client.query<{ stored: number }>(
    'select count(*)::float8 as stored from responses where surveyid = any($1)',
    [ids],
  );

  const present = (dryRun ? 0 : responses.new) + responses.changed + responses.unchanged;
  return (rows[0]?.stored ?? 0) - present;
}

/**
 * The form versions of a survey, with the exact times of `/responses/form-data`.
 *
 * @returns also how that endpoint takes the survey's name: the platform decodes it twice
 */
async function readForms(source: Source, name: string, versions: readonly JsonObject[]) {
  const once = encodeURIComponent(name);
  const names = [once, encodeURIComponent(once)];
  return await source
    .retrying(async (attempt) => {
      const survey = names[attempt % 2] ?? '';
      try {
        const body = await source.get('/responses/form-data', `survey=${survey}&missing=404`);
        return { ...(await formsIn(body, name, versions)), survey };
      } catch (error) {
        const isOther = error instanceof SourceFailure && error.details.status === 404;
        throw isOther || error instanceof BadLine ? new SourceFailure(messageOf(error)) : error;
      }
    })
    .catch(naming('/responses/form-data'));
}

async function formsIn(body: Buffer, name: string, versions: readonly JsonObject[]) {
  const [header, ...records] = (await Array.fromAsync(recordsOf([body]))).flat();
  const columns = parseHeader(header, formsFile);
  const left = new Map(versions.map((version) => [version['id'], version]));
  const rows = records.map((record): Row => {
    const { line, fields } = rowOf(record, columns, formsFile);
    const field = (column: string) => fields[columns.indexOf(column)];
    if (field('survey_name') !== name) throw new BadLine(line, 'is of another survey');
    const id = field('surveyid');
    const made = { title: field('shortcode'), formid: id, translation_conf: {} };
    const details = rowOfObject(left.get(id) ?? made, line, formDetails);
    left.delete(id);
    return { line, fields: [...fields, ...details.fields] };
  });

  if (left.size > 0) throw new SourceFailure('lacks form versions that /surveys has');
  return { rows, columns: [...columns, ...Object.keys(formDetails.columns)] };
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
  // The older form of a token, which both the platform and this service take.
  const start = since === undefined ? '' : `${formatInstant(since - 1n).replace('T', ' ')},,`;
  let after = start.replace('Z', '+00:00') && btoa(start.replace('Z', '+00:00'));
  let place = 'the first page';
  let smallest = 0; // the index of the page size in use
  for (let isFirst = true; ; isFirst = false) {
    const read = async (attempt: number): Promise<JsonObject[]> => {
      const size = Math.min(
        smallest + Math.floor(attempt / ATTEMPTS_PER_SIZE),
        PAGE_SIZES.length - 1,
      );
      const query = new URLSearchParams({
        survey: name,
        pageSize: String(PAGE_SIZES[size]),
        missing: '404',
      });
      if (after) query.set('after', after);
      const page = await source.get('/responses', String(query)).catch(async (error: unknown) => {
        const isMaybeEmpty =
          isFirst && error instanceof SourceFailure && error.details.status === 500;
        if (isMaybeEmpty && (await isEmptyFile(source, survey))) return undefined;
        throw error;
      });

      const { responses } = (
        page ? source.parse(page, onLargeNumber) : { responses: [] }
      ) as JsonObject;
      const rows = objects(responses);
      if (rows.length > 0 && typeof rows.at(-1)?.['token'] !== 'string')
        throw new SourceFailure('has no token');
      smallest = size;
      return rows;
    };

    const attempts = (PAGE_SIZES.length - smallest) * ATTEMPTS_PER_SIZE;
    const rows = await source.retrying(read, attempts).catch((error: unknown) => {
      if (!(error instanceof SourceFailure)) throw error;
      const advice =
        error.details.status === 500
          ? '; the platform cannot return a userid or question_ref with characters beyond Latin-1, which only its CSV file has'
          : '';
      throw new UserError(`/responses ${error.message}${advice} (${place})`, { cause: error });
    });

    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    after = last['token'] as string;
    place = `the page after ${placeOf(last)}`;
  }
}

/** Whether `/responses/csv` ends without a byte: the platform's API has no other sign of an empty survey. */
async function isEmptyFile(source: Source, survey: string): Promise<boolean> {
  return await source.get('/responses/csv', `survey=${survey}`, 0).then(
    () => true,
    (error: unknown) => {
      if (error instanceof SourceFailure) return false;
      throw error;
    },
  );
}
