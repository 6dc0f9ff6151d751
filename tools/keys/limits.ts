import { randomBytes } from 'node:crypto';
import type { Client } from 'pg';
import { type KeyLimits, parseKeyLimits } from '../../src/auth/key-limits.ts';
import { formLimits, questionLimits } from '../../src/db/relation.ts';
import { and, render, sql } from '../../src/db/sql.ts';
import { CREATE_ADVICE, existingAccount, findAccount } from '../accounts.ts';
import { counted, UserError } from '../command.ts';
import { withLockTimeout } from '../connection.ts';
import { findMigrations } from '../migrations.ts';
import { quotedList } from './printable.ts';
import { NO_PAGEID } from './shown-limits.ts';

/** The options of `keys -- issue` that limit what the key sees. */
export interface LimitOptions {
  readonly survey?: readonly string[];
  readonly form?: readonly string[];
  readonly question?: readonly string[];
  readonly withoutQuestion?: readonly string[];
  readonly metadata?: readonly string[];
  readonly noMetadata?: boolean;
  readonly noPageid?: boolean;
  readonly pseudonyms?: boolean;
  /** The id of another key of the account, which has the same pseudonyms. */
  readonly pseudonymsOf?: string;
  /** Whether surveys, forms and questions may be named that the account does not have yet. */
  readonly force?: boolean;
}

/**
 * What the account has: each question of each form of each survey, and the number of responses to
 * it.
 */
interface Entry {
  readonly survey: string;
  readonly form: string;
  /** Null for a form without responses. */
  readonly question: string | null;
  readonly responses: number;
}

/** Whether a limit leaves a name. */
const isAmong = (limit: readonly string[] | undefined, name: string) =>
  limit?.includes(name) ?? true;

/**
 * Makes the limits of a new key. Writes nothing to the database.
 *
 * @param options.onNotice called with a sentence that describes what the key sees, and with
 * warnings
 * @returns null for a key that sees everything
 * @throws UserError if the options contradict each other, or name what the account does not have
 */
export async function chooseLimits(
  url: string,
  options: LimitOptions & {
    email: string;
    createAccount?: boolean | undefined;
    onNotice: (notice: string) => void;
  },
): Promise<KeyLimits | null> {
  const { question, withoutQuestion, metadata, noMetadata, noPageid } = options;

  const both = withoutQuestion?.filter((name) => question?.includes(name)) ?? [];
  if (both.length > 0)
    throw new UserError(`--without-question: ${quotedList(both)} cannot be a --question as well`);
  if (noPageid && metadata?.includes('pageid'))
    throw new UserError(
      '--no-pageid: takes "pageid" out of the metadata, so it cannot be a --metadata as well',
    );

  const given = {
    v: 1,
    surveys: options.survey,
    shortcodes: options.form,
    questions: question,
    without_questions: withoutQuestion,
    metadata: noMetadata ? [] : metadata,
    pageid: noPageid ? false : undefined,
    secret: options.pseudonyms && randomBytes(32).toString('hex'),
  };

  const limits = JSON.parse(JSON.stringify(given)) as KeyLimits; // without what is undefined

  if (Object.keys(limits).length === 1 && options.pseudonymsOf === undefined) return null;

  return withLockTimeout(url, async (client) => {
    const isEmpty = (await findMigrations(client)).pending.includes('0001_initial.sql');
    const find = options.createAccount ? findAccount : existingAccount;
    const account = isEmpty ? undefined : await find(client, options.email, CREATE_ADVICE);

    const shared = options.pseudonymsOf && {
      secret: await secretOf(client, options.pseudonymsOf, account?.id),
    };

    const entries = account ? await entriesOf(client, account.id) : [];
    if (!options.force) checkNames(options, entries);

    const chosen = { ...limits, ...shared };
    for (const notice of describe(chosen, entries)) options.onNotice(notice);
    const others = account && noPageid ? await otherPageIdKeys(client, account.id, chosen) : [];
    if (others.length > 0)
      options.onNotice(
        `Warning: metadata keys other than "pageid" hold a page id, which this key sees: ${quotedList(others)}. See --metadata and --no-metadata.`,
      );
    return chosen;
  });
}

/** @throws UserError if the account has no such key, or it has no pseudonyms */
async function secretOf(
  client: Client,
  id: string,
  accountId: string | undefined,
): Promise<string> {
  // no column in older schemas
  const select = `select to_jsonb(k) -> 'limits' as limits from api_keys k where id = $1 and userid = $2`;
  const { rows } =
    accountId === undefined
      ? { rows: [] }
      : await client.query<{ limits: unknown }>(select, [id, accountId]);
  if (!rows[0]) throw new UserError(`--pseudonyms-of: the account has no key ${id}`);
  const secret = parseKeyLimits(rows[0].limits)?.secret;
  if (secret === undefined) throw new UserError(`--pseudonyms-of: key ${id} has no pseudonyms`);
  return secret;
}

async function entriesOf(client: Client, accountId: string): Promise<Entry[]> {
  const { rows } = await client.query<Entry>(
    `select s.survey_name as survey, s.shortcode as form, r.question_ref as question, count(r.surveyid)::float8 as responses
     from surveys s left join responses r on r.surveyid = s.id
     where s.userid = $1
     group by s.survey_name, s.shortcode, r.question_ref`,
    [accountId],
  );

  return rows;
}

/**
 * The metadata keys that a key sees, other than `pageid`, whose value has a page id in it: as a
 * value or a name at any depth, or as a word of a text, such as a part of a URL.
 */
async function otherPageIdKeys(
  client: Client,
  accountId: string,
  limits: KeyLimits,
): Promise<string[]> {
  const isOwn = sql`userid = ${accountId}`;
  const isSeen = sql`surveyid in (
    select id from surveys where ${and([isOwn, ...formLimits(limits)])}
  )`;
  const { text, params } = render(sql`
    with page as materialized (
      select distinct pageid, metadata->>'pageid' as same
      from responses where surveyid in (select id from surveys where ${isOwn})
    ), seen as materialized (
      select distinct metadata
      from responses where ${and([isSeen, ...questionLimits(limits)])}
    )
    select distinct key
    from seen,
      jsonb_each(case jsonb_typeof(metadata) when 'object' then metadata end) member,
      lateral (
        select leaf #>> '{}' from jsonb_path_query(value, 'strict $.**') leaf
        union all
        select regexp_split_to_table(value::text, '[^[:alnum:]]+')
      ) part (text)
    where key <> 'pageid' and text <> ''
      and text in (select pageid from page union all select same from page)
    order by key`);
  const { rows } = await client.query<{ key: string }>(text, params);

  return rows.map(({ key }) => key).filter((key) => isAmong(limits.metadata, key));
}

/** The most names of an account that an error lists. */
const MAX_LISTED = 30;

function checkNames(
  { survey, form, question, withoutQuestion }: LimitOptions,
  entries: readonly Entry[],
): void {
  for (const [option, names, column] of [
    ['survey', survey, 'survey'],
    ['form', form, 'form'],
    ['question', question, 'question'],
    ['without-question', withoutQuestion, 'question'],
  ] as const) {
    const known = new Set(entries.flatMap((entry) => entry[column] ?? []));
    const unknown = names?.filter((name) => !known.has(name)) ?? [];
    if (unknown.length === 0) continue;

    const sorted = [...known].toSorted();
    const more = sorted.length > MAX_LISTED ? ', …' : '';
    const listed = quotedList(sorted.slice(0, MAX_LISTED)) || 'none';
    throw new UserError(
      `--${option}: the account has no ${column} ${quotedList(unknown)}: it has ${listed}${more}. If it is to come, add --force.`,
    );
  }
}

function describeMetadata(keys: readonly string[] | undefined): string {
  if (!keys) return 'all metadata';
  return keys.length > 0 ? `of the metadata only ${quotedList(keys)}` : 'no metadata';
}

/** @returns a sentence that describes what a key sees, and warnings */
function describe(limits: KeyLimits, entries: readonly Entry[]): string[] {
  const forms = entries.filter(
    ({ survey, form }) => isAmong(limits.surveys, survey) && isAmong(limits.shortcodes, form),
  );

  const seen = forms.filter(
    ({ question }) =>
      question !== null &&
      isAmong(limits.questions, question) &&
      !limits.without_questions?.includes(question),
  );

  const answered = entries.filter(({ question }) => question !== null);
  const namesIn = (some: readonly Entry[]) => new Set(some.map(({ survey }) => survey)).size;
  const sum = (some: readonly Entry[]) =>
    some.reduce((total, { responses }) => total + responses, 0);
  const of = (part: number, all: number, noun: string) =>
    `${part.toLocaleString('en-US')} of ${counted(all, noun)}`;

  const parts = [
    of(namesIn(forms), namesIn(entries), 'survey'),
    of(seen.length, answered.length, 'question'),
    of(sum(seen), sum(entries), 'response'),
    describeMetadata(limits.metadata),
    limits.pageid === false ? NO_PAGEID : 'page ids',
  ];

  const ids = `${limits.secret ? 'pseudonyms in place of ' : ''}the participants' ids`;
  const notices = [`This key sees ${parts.join(', ')}, and ${ids}.`];
  if (sum(seen) === 0) notices.push('Warning: this key sees no responses.');
  if (limits.secret && !limits.metadata)
    notices.push(
      'Warning: metadata and free text can hold names and phone numbers: see --metadata, --no-metadata, --question and --without-question.',
    );
  return notices;
}
