import { AWKWARD } from './awkward-text.ts';
import type { TestResponse } from './data.ts';

/** JSON as it is stored: numbers that JavaScript cannot represent, and values that are not text. */
const METADATA = [
  '{"ad_id": 12345678901234567890123456789}',
  '{"ad_id": ""}',
  '{"ad_id": {"nested": "\\"quoted\\""}}',
  '["ad_id"]',
  '{"n": 1.10, "big": 1e300, "c": 1e400, "d": -0.0}',
  '{"": "a", "it\'s": "b", "a,\\"b\\"": "c"}',
  'null',
  null,
];
/** Some of their keys, and one that none has. */
export const METADATA_KEYS = ['ad_id', 'n', '', 'a,"b"', "it's", '🎉'];

const TIMES = ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999Z', '2026-03-01T00:00:00.1Z'];

/**
 * Responses to three form versions, with a text that breaks encoders, or another extreme value, in
 * every column.
 */
export const awkwardResponses = (): TestResponse[] =>
  AWKWARD.map((text, i) => ({
    form: i % 3,
    timestamp: TIMES[(i >> 1) % TIMES.length] ?? '',
    userid: text,
    question_ref: `${text}${text}`,
    question_text: `a${text}`,
    response: `${text}b`,
    parent_shortcode: text,
    parent: i % 2 ? null : '02c3dcc1-295a-5c79-8cfe-a43b6783a65d',
    pageid: i % 4 ? text : null,
    translated_response: i % 2 ? text : null,
    flowid: i % 2 ? '9223372036854775807' : '-9223372036854775808',
    question_idx: i % 2 ? 2 ** 31 - 1 : -(2 ** 31),
    metadata: METADATA[i % METADATA.length] ?? null,
  }));
