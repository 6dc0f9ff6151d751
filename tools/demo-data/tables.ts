import type { Values } from './insert.ts';

export const userColumns = { id: 'uuid', email: 'text' };

export const formColumns = {
  id: 'uuid',
  userid: 'uuid',
  survey_name: 'text',
  shortcode: 'text',
  title: 'text',
  formid: 'text',
  created: 'timestamptz',
  metadata: 'jsonb',
  translation_conf: 'jsonb',
};

export const settingColumns = { surveyid: 'uuid', timeouts: 'jsonb', off_time: 'timestamptz' };

export const responseColumns = {
  parent_surveyid: 'uuid',
  parent_shortcode: 'text',
  surveyid: 'uuid',
  shortcode: 'text',
  flowid: 'bigint',
  userid: 'text',
  question_ref: 'text',
  question_idx: 'integer',
  question_text: 'text',
  response: 'text',
  seed: 'bigint',
  pageid: 'text',
  timestamp: 'timestamptz',
  metadata: 'jsonb',
  translated_response: 'text',
};

export type FormVersion = Record<keyof typeof formColumns, string>;
export type Response = Values<typeof responseColumns>;
