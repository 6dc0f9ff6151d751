import type pg from 'pg';
import { sql } from '../../support/data.ts';
import type { FormVersion, Response } from './account.ts';
import { timestampOf } from './moment.ts';

const SURVEY = `id uuid, userid uuid, survey_name text, shortcode text, title text, formid text, created timestamptz,
  metadata jsonb, translation_conf jsonb`;
const SETTINGS = 'surveyid uuid, timeouts jsonb, off_time timestamptz';
const RESPONSE = `parent_surveyid uuid, parent_shortcode text, surveyid uuid, shortcode text, flowid bigint, userid text,
  question_ref text, question_idx int, question_text text, response text, timestamp timestamptz, metadata jsonb,
  pageid text, translated_response text`;

/** Inserts form versions of an account. @param db in a transaction */
export async function insertForms(db: pg.ClientBase, account: string, marker: string, forms: readonly FormVersion[]) {
  await insert(
    db,
    'surveys',
    SURVEY,
    forms.map(({ id, survey, shortcode, title, created, metadata }) => ({
      id,
      userid: account,
      survey_name: survey,
      shortcode,
      title,
      formid: marker,
      created: timestampOf(created),
      metadata,
      translation_conf: metadata,
    })),
  );
  const settings = forms.flatMap(({ id, settings: { closes, timeouts } = { closes: undefined, timeouts: null } }) =>
    closes === undefined ? [] : [{ surveyid: id, timeouts, off_time: closes === null ? null : timestampOf(closes) }],
  );
  await insert(db, 'survey_settings', SETTINGS, settings);
}

export async function insertResponses(
  db: pg.ClientBase,
  responses: readonly Response[],
  forms: readonly FormVersion[],
) {
  const shortcodes = new Map(forms.map(({ id, shortcode }) => [id, shortcode]));
  await insert(
    db,
    'responses',
    RESPONSE,
    responses.map((row) => ({
      parent_surveyid: row.parentId,
      parent_shortcode: row.parentShortcode,
      surveyid: row.form,
      shortcode: shortcodes.get(row.form),
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

/** @param types the columns and their types; JSON is sent as text, which keeps the digits of its numbers */
async function insert(db: pg.ClientBase, table: string, types: string, rows: readonly object[]): Promise<void> {
  if (rows.length === 0) return;
  const columns = types.replaceAll(/ \w+(?=,|$)/g, '');
  const values = columns.replaceAll(/metadata|translation_conf|timeouts/g, '$&::jsonb');
  await db.query(
    `insert into ${table} (${columns}) select ${values} from json_to_recordset($1) as r(${types.replaceAll('jsonb', 'text')})`,
    [JSON.stringify(rows)],
  );
}

const IS_RESPONSE = 'surveyid = $1 and timestamp = $2 and userid = $3 and question_ref = $4';
const keyOf = ({ form, at, userid, question }: Response) => [form, timestampOf(at), userid, question];

export const deleteResponse = (row: Response) => sql(`delete from responses where ${IS_RESPONSE}`, keyOf(row));

export const updateText = (row: Response, text: string) =>
  sql(`update responses set response = $5 where ${IS_RESPONSE}`, [...keyOf(row), text]);

/** Stores the names of form versions. */
export const updateForms = (forms: readonly FormVersion[]) =>
  sql(
    `update surveys set survey_name = f.survey, shortcode = f.shortcode, title = f.title
     from json_to_recordset($1) as f(id uuid, survey text, shortcode text, title text) where f.id = surveys.id`,
    [JSON.stringify(forms)],
  );
