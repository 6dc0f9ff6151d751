import type { Client } from 'pg';
import { lockAddress } from './accounts.ts';
import { UserError } from './command.ts';
import { makeResponses } from './demo-data/participants.ts';
import { questions } from './demo-data/questions.ts';
import { type Random, randomFrom } from './demo-data/random.ts';
import { inTransaction, withConnection } from './connection.ts';

const STUDY = 'Health & Habits 2026 – Saúde';
const PILOT = 'Pilot study (nobody asked yet)';
/** The account of the demo data, and the name of its study. */
export const DEMO = { email: 'demo@example.org', survey: STUDY };

/** When the first and the second version of the nth form were created. */
const CREATED = [
  (n: number) => `2026-01-05T09:0${n}:00.123456Z`,
  (n: number) => `2026-02-02T09:0${n}:00Z`,
];

const titles: Record<string, string> = {
  healthstart: 'Health & water: the beginning',
  healthfood: 'What we eat',
  healthlater: 'Three weeks later',
};

/**
 * Loads a made-up study into an empty database: three forms in two versions each, and some thousand
 * answers in six languages. The account also has a survey without responses. A second account has a
 * survey of the same name, which the first must not see. Every run creates the same rows.
 *
 * @param url `postgres://` URL of a migrated database; one connection is used
 * @returns the account's e-mail address and the names of its surveys, the study first
 * @throws UserError if the database has any account
 */
export async function loadDemoData(url: string): Promise<{ email: string; surveys: string[] }> {
  const random = randomFrom(2026);
  const account = { id: random.uuid(), email: DEMO.email };
  const other = { id: random.uuid(), email: 'other-lab@example.org' };
  const study = makeForms(random, account.id, STUDY);
  const pilot = makeForms(random, account.id, PILOT).slice(0, 1);
  const otherStudy = makeForms(random, other.id, STUDY);
  const timeouts = [{ type: 'relative', value: '3 days', message: 'Still there?' }];
  const settings = [
    { surveyid: study[0]?.id, timeouts, off_time: '2026-03-31T22:00:00Z' },
    { surveyid: study[4]?.id, off_time: '2026-04-15T12:30:00.5Z' },
  ];

  const responses = [
    ...makeResponses(random, study, 400),
    ...makeResponses(random, otherStudy, 25),
  ];

  await withConnection(url, async (client) => {
    await inTransaction(client, async () => {
      for (const { email } of [account, other]) await lockAddress(client, email);
      const { rowCount } = await client.query('select from users limit 1');
      if (rowCount !== 0)
        throw new UserError(
          'demo data can only be loaded into an empty database, but this one has accounts',
        );
      await insertRows(client, 'users', [account, other]);
      await insertRows(client, 'surveys', [...study, ...pilot, ...otherStudy]);
      await insertRows(client, 'survey_settings', settings);
      await insertRows(client, 'responses', responses);
    });

    await client.query('vacuum (analyze) responses'); // rather than wait for autovacuum
  });

  return { email: DEMO.email, surveys: [STUDY, PILOT] };
}

/**
 * Inserts rows, whose columns are those of the first. In metadata, the id of a page is a number, and
 * text until here, since a JS number would lose digits.
 */
async function insertRows(client: Client, table: string, rows: object[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {}).join(', ');
  const json = JSON.stringify(rows).replaceAll(/("metadata":\{[^}]*"pageid":)"(\d+)"/g, '$1$2');
  const insert = `insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, $1)`;
  await client.query(insert, [json]);
}

/** Makes both versions of each of a study's forms, as rows of the table. */
function makeForms(random: Random, account: string, surveyName: string) {
  return CREATED.flatMap((created, index) =>
    Object.keys(questions).map((shortcode, n) => ({
      id: random.uuid(),
      userid: account,
      survey_name: surveyName,
      shortcode,
      title: titles[shortcode] ?? shortcode,
      formid: random.digits(8),
      created: created(n),
      metadata: { wave: index + 1, team: 'Água', tags: ['health', 'food'] },
      translation_conf: { self: true },
    })),
  );
}
