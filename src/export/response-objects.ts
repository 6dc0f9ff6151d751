import { cursorValue } from '../responses/cursor.ts';
import { JSON_COLUMNS, keyColumnsOf } from '../db/responses.ts';
import type { Form } from '../db/surveys.ts';
import { JsonValue, LookUpValue, StringValue, type MemberValue } from '../encode/json-values.ts';
import { ObjectEncoder, type ObjectLayout } from '../encode/json.ts';

/** Where rows read with `JSON_COLUMNS` hold the values of a cursor. */
export const KEY_COLUMNS = keyColumnsOf(JSON_COLUMNS);

/**
 * Turns rows read with `JSON_COLUMNS` into responses as the API has them.
 *
 * @param forms of which there are responses
 * @param frame what stands around each object
 */
export function responseEncoder(forms: readonly Form[], frame: Omit<ObjectLayout, 'members'>): ObjectEncoder {
  const shortcodes = new Map(forms.map(({ id, shortcode }) => [id, shortcode]));
  const at = (name: (typeof JSON_COLUMNS)[number]) => JSON_COLUMNS.indexOf(name);
  const text = (name: (typeof JSON_COLUMNS)[number]): [string, MemberValue] => [name, new StringValue(at(name))];
  const members: ObjectLayout['members'] = [
    text('parent_surveyid'),
    text('parent_shortcode'),
    ['shortcode', new LookUpValue(at('surveyid'), shortcodes)],
    text('surveyid'),
    text('flowid'),
    text('userid'),
    text('question_ref'),
    text('question_idx'),
    text('question_text'),
    text('response'),
    text('timestamp'),
    ['metadata', new JsonValue(at('metadata'))],
    text('pageid'),
    text('translated_response'),
    ['token', cursorValue(KEY_COLUMNS)],
  ];
  return new ObjectEncoder({ members, ...frame });
}
