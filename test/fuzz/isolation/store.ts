import type pg from 'pg';
import { apiKeyPrefix, hashApiKey } from '../../../src/auth/api-key.ts';
import { type Account, type FormVersion, type Response, type World, timestampOf } from './world.ts';

/** A row of `api_keys`. */
export interface StoredKey {
  readonly account: Account;
  readonly token: string;
  readonly expires?: Date;
  readonly revoked?: Date;
}

/** Stores accounts and their data. */
export async function storeWorld(db: pg.Client, world: World): Promise<void> {
  await insert(
    db,
    'users (id, email)',
    'id uuid, email text',
    world.map(({ id, email }) => ({ id, email })),
  );
  for (const account of world) await storeForms(db, account, account.forms);
  await storeResponses(
    db,
    world.flatMap(({ responses }) => responses),
  );
}

export async function storeKeys(db: pg.Client, keys: readonly StoredKey[]): Promise<void> {
  const rows = keys.map(async ({ account, token, expires, revoked }) => ({
    userid: account.id,
    name: 'test',
    prefix: apiKeyPrefix(token),
    hash: await hashApiKey(token),
    expires,
    revoked,
  }));
  const types = 'userid uuid, name text, prefix text, hash text, expires timestamptz, revoked timestamptz';
  await insert(db, 'api_keys (userid, name, prefix, hash, expires, revoked)', types, await Promise.all(rows));
}

export async function storeForms(db: pg.Client, account: Account, forms: readonly FormVersion[]): Promise<void> {
  const columns = 'id, userid, survey_name, shortcode, title, formid, created, metadata, translation_conf';
  const types = `id uuid, userid uuid, survey_name text, shortcode text, title text, formid text, created timestamptz,
    metadata text, translation_conf text`;
  await insert(
    db,
    `surveys (${columns})`,
    types,
    forms.map(({ id, survey, shortcode, title, created, metadata }) => ({
      id,
      userid: account.id,
      survey_name: survey,
      shortcode,
      title,
      formid: account.marker,
      created: timestampOf(created),
      metadata,
      translation_conf: metadata,
    })),
  );
  await insert(
    db,
    'survey_settings (surveyid, timeouts, off_time)',
    'surveyid uuid, timeouts text, off_time timestamptz',
    forms.flatMap(({ id, settings }) =>
      settings
        ? [
            {
              surveyid: id,
              timeouts: settings.timeouts,
              off_time: settings.closes === null ? null : timestampOf(settings.closes),
            },
          ]
        : [],
    ),
  );
}

export async function storeResponses(db: pg.Client, responses: readonly Response[]): Promise<void> {
  const columns = `parent_surveyid, parent_shortcode, surveyid, shortcode, flowid, userid, question_ref, question_idx,
    question_text, response, timestamp, metadata, pageid, translated_response`;
  const types = `parent_surveyid uuid, parent_shortcode text, surveyid uuid, shortcode text, flowid bigint, userid text,
    question_ref text, question_idx int, question_text text, response text, timestamp timestamptz, metadata text,
    pageid text, translated_response text`;
  await insert(
    db,
    `responses (${columns})`,
    types,
    responses.map((row) => ({
      parent_surveyid: row.parentId,
      parent_shortcode: row.parentShortcode,
      surveyid: row.form.id,
      shortcode: row.form.shortcode,
      flowid: row.flowid,
      userid: row.userid,
      question_ref: row.question,
      question_idx: row.index,
      question_text: row.questionText,
      response: row.text,
      timestamp: timestampOf(row.at),
      metadata: row.metadata.json,
      pageid: row.pageid,
      translated_response: row.translated,
    })),
  );
}

/** Sent as text, to keep the digits of JSON numbers. */
const JSON_COLUMNS = /\b(?:metadata|translation_conf|timeouts)\b/g;

/** @param target a table and its columns @param types the types of these columns, in any order */
async function insert(db: pg.Client, target: string, types: string, rows: readonly object[]): Promise<void> {
  if (rows.length === 0) return;
  const columns = target.slice(target.indexOf('(') + 1, -1);
  const values = columns.replaceAll(JSON_COLUMNS, '$&::jsonb');
  await db.query(`insert into ${target} select ${values} from json_to_recordset($1) as r(${types})`, [
    JSON.stringify(rows),
  ]);
}
