import { type FileRow, csvOf } from '../support/export-files.ts';

/** Answers that careless programs change, drop, or mistake for the end of a record. */
const HARD_ANSWERS = [
  ...['NA', 'N/A', 'null', 'None', 'nan', 'NULL', 'TRUE', '#N/A', '\\N', '-', '.'],
  ...['007', '+15551234', '-5', '1e5', '12345678901234567890', '0.10', '2026-03-01', '1/2', '1,5'],
  ...[
    '',
    ' ',
    '  spaces around  ',
    '\ttab\t',
    'line\nbreak',
    'Windows\r\nline break',
    'lone\rreturn',
    '\n',
    'ends in one\n',
  ],
  ...[
    '"',
    '""',
    '"quoted"',
    'half "quoted',
    "it's",
    ',',
    ';',
    'a,b,"c"',
    '# no comment',
    '=1+1',
    '@SUM(A1)',
    '\\',
    'a\\nb',
  ],
  ...['\uFEFFmark', 'e\u0301', '👩‍👩‍👧', '\u2028', '{"token":"WzEs"}]}', '"token":"WzEs"}', 'x'.repeat(32_000)],
];

const HARD_IDS = ['0042', 'NA', 'user "9", née Ünï', '9272908327168660', ' 1'];

const METADATA =
  '{"page": 123456789012345678, "note": "a\\n\\"b\\"", "ratio": 0.10, "token": "x\\"}]}", "platform": "web"}';

/**
 * A responses file to import, with a response for each hard answer. Some share a timestamp, some have microseconds.
 *
 * @param surveyid of a form version of the account
 * @param start hour of the first response, such as `2026-02-10T10`
 */
export function hardRows(surveyid: string, start: string): string {
  const rows = HARD_ANSWERS.map((response, index): FileRow => {
    const second = String(index >> 1).padStart(2, '0');
    return {
      parent_surveyid: index % 3 === 0 ? null : surveyid,
      parent_shortcode: index % 2 === 0 ? '' : 'start',
      surveyid,
      flowid: String(1_700_000_000_000 + index),
      userid: HARD_IDS[index % HARD_IDS.length] ?? '',
      question_ref: index % 4 === 0 ? 'NA' : 'hard "one", ünï',
      question_idx: String(index),
      question_text: response,
      response,
      timestamp: `${start}:00:${second}.${index % 4 < 2 ? '000000' : '000047'}Z`,
      metadata: index % 5 === 0 ? null : METADATA,
      ad_id: null,
      pageid: index % 2 === 0 ? null : '0935593143497601123',
      translated_response: index % 3 === 0 ? null : response,
    };
  });
  return csvOf(rows);
}
