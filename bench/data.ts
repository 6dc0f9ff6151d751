import pg from 'pg';
import {
  apiKeyPrefix,
  generateApiKey,
  generateLimitedApiKey,
  hashApiKey,
} from '../src/auth/api-key.ts';
import type { KeyLimits } from '../src/auth/key-limits.ts';

/** A generated survey. */
export interface BenchSurvey {
  readonly name: string;
  readonly accountId: string;
  readonly limits: null;
  readonly rows: number;
  readonly forms: readonly string[];
}

export interface BenchAccount {
  readonly id: string;
  readonly email: string;
  readonly key: string;
}

export async function createAccount(
  client: pg.Client,
  email = 'bench@example.org',
): Promise<BenchAccount> {
  const { rows } = await client.query<{ id: string }>(
    'insert into users (email) values ($1) returning id',
    [email],
  );
  return createKey(client, { id: rows[0]?.id ?? '', email });
}

/** Creates another key of an account. @param limits what it sees; everything by default */
export async function createKey(
  client: pg.Client,
  { id, email }: Pick<BenchAccount, 'id' | 'email'>,
  limits: KeyLimits | null = null,
): Promise<BenchAccount> {
  const key = limits ? generateLimitedApiKey() : generateApiKey();
  await client.query(
    'insert into api_keys (userid, name, prefix, hash, limits) values ($1, $2, $3, $4, $5)',
    [id, 'bench', apiKeyPrefix(key), await hashApiKey(key), limits],
  );
  return { id, email, key };
}

/**
 * Creates a survey whose form versions alternate row by row, or with `consecutive` follow each
 * other. Timestamps are about a third of a second apart and have microseconds; each user has six
 * questions; some texts need quotes. A CSV record has about 430 bytes. With `choices`, every other
 * question lists five choices, and its answers are their letters.
 *
 * @param columns SQL of other values, by their number `n` from 0
 */
export async function createSurvey(
  client: pg.Client,
  account: BenchAccount,
  {
    name,
    rows,
    forms,
    consecutive = false,
    choices = false,
    columns = {},
  }: {
    name: string;
    rows: number;
    forms: number;
    consecutive?: boolean;
    choices?: boolean;
    columns?: Readonly<Record<string, string>>;
  },
): Promise<BenchSurvey> {
  const created = await client.query<{ id: string }>(
    `insert into surveys (userid, survey_name, shortcode, title, formid, created)
     select $1, $2, 'form' || i / 5, 'Title', 'form' || i, timestamptz '2026-01-01Z' + i * interval '1 day'
     from generate_series(0, $3 - 1) i returning id`,
    [account.id, name, forms],
  );
  const ids = created.rows.map(({ id }) => id);
  const form = consecutive
    ? 'n::bigint * cardinality($1::uuid[]) / $2::int'
    : 'n % cardinality($1::uuid[])';
  const question =
    'Do you think that what the government is doing for people in poverty in this country is about the right amount?';
  const listed =
    '\\n- A. Too much\\n- B. About the right amount\\n- C. Too little\\n- D. I do not know\\n- E. I do not want to say';
  const values: Readonly<Record<string, string>> = {
    parent_surveyid: 'form',
    parent_shortcode: `'parentform'`,
    surveyid: 'form',
    shortcode: `'form'`,
    flowid: '1600000000000 + n / 6',
    userid: '(2000000000000000 + (n / 6) % 50000)::text',
    question_ref: `'question_' || n % 6`,
    question_idx: 'n % 6',
    question_text: `'${question}' || case when $3 and n % 2 = 0 then E'${listed}' else '' end`,
    response: `case when $3 and n % 2 = 0 then chr(65 + n % 5) else case n % 5 when 0 then 'Too "Much", really' when 1 then 'yes'
      when 2 then 'né 🎉' when 3 then '' else 'a somewhat longer answer, number ' || n end end`,
    seed: '790363660',
    pageid: `'935593143497601'`,
    timestamp: `timestamptz '2026-03-01Z' + n * interval '0.37 s' + (n % 7) * interval '13 us'`,
    metadata: `jsonb_build_object('form', 'wvsaustralia', 'startTime', 1772323417086 + n, 'platform', 'messenger',
      'pageid', '935593143497601', 'seed', 790363660) ||
      case when n % 3 = 0 then '{"ad_id": "23841891616030581"}' else '{}' end::jsonb`,
    translated_response: `case when n % 4 = 0 then 'translated' end`,
    ...columns,
  };
  await client.query(
    `insert into responses (${Object.keys(values).join()}) select ${Object.values(values).join()}
     from generate_series(0, $2::int - 1) n, lateral (select ($1::uuid[])[1 + ${form}] as form) f
     where $3::boolean is not null`,
    [ids, rows, choices],
  );
  return { name, accountId: account.id, limits: null, rows, forms: ids };
}
