import { expect, test } from 'vitest';
import { formsFile, reasonForRefusal, responsesFile } from '../../tools/import/columns.ts';

test.each([
  [
    'surveyid',
    '3f1c6c5e000040008000000000000001',
    '"3f1c6c5e000040008000000000000001" is not a UUID',
  ],
  ['surveyid', null, 'is empty'],
  ['parent_surveyid', 'NA', '"NA" is not a UUID (leave a null empty)'],
  ['flowid', '9223372036854775808', '"9223372036854775808" is not a 64-bit integer'],
  ['flowid', '1.6E+12', '"1.6E+12" is a rounded number: the file was saved in a spreadsheet'],
  [
    'userid',
    '2,00092E+15',
    '"2,00092E+15" is a rounded number: the file was saved in a spreadsheet',
  ],
  ['question_idx', '2147483648', '"2147483648" is not a 32-bit integer'],
  [
    'timestamp',
    '2026-03-01T00:03:43.1234567Z',
    '"2026-03-01T00:03:43.1234567Z" is not a timestamp',
  ],
  ['timestamp', '2026-03-01T00:03:43Z\n', '"2026-03-01T00:03:43Z\\n" is not a timestamp'],
  ['metadata', '[1]', '"[1]" is not a JSON object'],
])('a responses file must not have %s %j: %s', (name, value, reason) => {
  expect(reasonForRefusal(responsesFile, name, value)).toContain(`${name}: ${reason}`);
});

test.each([
  ['version', '0', '"0" is not a positive integer'],
  ['survey_created', '2026-03-01', '"2026-03-01" is not a timestamp'],
])('a forms file must not have %s %j: %s', (name, value, reason) => {
  expect(reasonForRefusal(formsFile, name, value)).toContain(`${name}: ${reason}`);
});
