import { expect, test } from 'vitest';
import { METADATA_KEYS, awkwardResponses } from '../support/awkward-responses.ts';
import { parseCsv } from '../support/csv.ts';
import { copyResponses, createAccount, storeSurvey } from '../support/data.ts';
import { type Parameters, expectError, get } from './requests.ts';

const INVISIBLE = Array.from({ length: 0x110000 }, (_, code) => code)
  .filter((code) => code > 0 && (code < 0xd800 || code > 0xdfff))
  .map((code) => String.fromCodePoint(code))
  .filter(
    (char) =>
      /[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}]/u.test(char) &&
      !/[\t\r\n]/.test(char),
  );
/** Texts that a spreadsheet may run as a formula, with ` where it needs an apostrophe. */
const FORMULAS = [
  '`=1+1',
  '`+15551234',
  '`-5',
  '`@SUM(A1)',
  '`|x',
  '`%x',
  '`="a,b"',
  '`＝1',
  '`＋1',
  '`－1',
  '`＠x',
  '`｜x',
  '`％x',
  '`−5',
  '`﹦1',
  '`﹢1',
  '`﹣1',
  '`﹫x',
  '`﹪x',
  '` =1',
  '`\u00a0=1',
  '`\ufeff=1',
  '`\u200b=1',
  '` \u200b\u00a0 ＝1',
  '`\u0001=1',
  '`\t`=1',
  '`\r`=1',
  '`\n`=1',
  '`\tx',
  '`\rx',
  '`\nx',
  'x;`=1',
  'x;` \ufeff=1',
  'x\t`+1',
  'x\n`=1',
  'x\r\n`-1',
  'x;`"=1+1;',
  'x;y;`@z; ;`=1',
  '`=1;`=1',
  'x;\t`=1',
  INVISIBLE.map((char) => `;\`${char}=`).join(''),
];
const HARMLESS = [
  '',
  '1=1',
  'a-b',
  '"=1"',
  "'=1",
  'ü',
  '5',
  '{"a":1}',
  ' x',
  'x; y\n\nz',
  'x, -1',
  'x;5%',
  '\u200b',
  ';',
];

const account = await createAccount();

test('a CSV file equals the output of COPY byte for byte, for awkward texts and metadata', async () => {
  const survey = await storeSurvey(awkwardResponses(), { account });
  // A key given twice counts once.
  const { status, text, bytes } = await get('/responses/csv', survey, {
    metadata: [...METADATA_KEYS, 'n'],
  });
  const copied = await copyResponses(survey, METADATA_KEYS);
  expect([status, text]).toEqual([200, copied.toString('utf8')]);
  expect(bytes.equals(copied)).toBe(true);
});

test('safe=true puts an apostrophe wherever a formula could begin, in texts that people typed or chose', async () => {
  const texts = [...FORMULAS.map((text) => text.replaceAll('`', '')), ...HARMLESS];
  const parts = { parent_shortcode: '=p', metadata: '{"ad_id": "=1"}' };
  const typed = { question_text: '=1', response: '=1', pageid: '-7', translated_response: '=1' };
  const survey = await storeSurvey([
    { ...parts, ...typed, question_ref: '=99', userid: '=' },
    ...texts.map((response, i) => ({ question_ref: `=${100 + i}`, response, userid: '=u' })),
  ]);
  const { bytes } = await get('/responses/csv', survey, { safe: 'true', metadata: 'ad_id' });
  const [first, ...others] = parseCsv(bytes);
  const guarded = Object.entries({ ...typed, ad_id: '=1', 'metadata.ad_id': '=1' }).map(
    ([name, text]) => [name, `'${text}`],
  );
  expect(first).toMatchObject({
    ...parts,
    ...Object.fromEntries(guarded),
    question_ref: '=99',
    userid: '=',
  });
  expect(others.map(({ response }) => response)).toEqual([
    ...FORMULAS.map((text) => text.replaceAll('`', "'")),
    ...HARMLESS,
  ]);
});

test('a wide file has up to 5000 questions', async () => {
  const survey = await storeSurvey(
    Array.from({ length: 5001 }, (_, i) => ({
      form: i === 5000 ? 2 : i % 2,
      parent: null,
      question_ref: `q${i}`,
    })),
    { account },
  );
  const message =
    'This selection has more than 5000 questions, or their names are too long for a wide file. ' +
    'Narrow it with shortcode or question_ref, or leave out layout=wide.';
  expectError(
    await get('/responses/csv', survey, { layout: 'wide' }),
    400,
    'export_too_large',
    message,
  );
  expectError(await get('/responses/answers', survey), 400, 'export_too_large', message);
  const { text } = await get('/responses/csv', survey, { layout: 'wide', shortcode: 'f0' });
  const [header = '', record = ''] = text.split('\n');
  expect(header.split(',').slice(-5000)).toEqual(
    Array.from({ length: 5000 }, (_, i) => `f0.q${i}`),
  );
  expect(record.split(',').slice(-5000)).toEqual(Array<string>(5000).fill('Answer'));
});

const small = await storeSurvey([{}], { account });
const large = await storeSurvey(
  Array.from({ length: 600 }, () => ({})),
  { account },
);

test.each<[path: string, parameters?: Parameters]>([
  ['/responses/csv'],
  ['/responses/csv', { layout: 'wide' }],
  ['/responses/xlsx'],
  ['/responses/ndjson'],
])(
  'a streamed body is refused over HTTP/1.0, a short one is not: %s %j',
  async (path, parameters = {}) => {
    // How miniflare passes `request.cf`.
    const over = (version: string) => ({
      headers: { 'MF-CF-Blob': JSON.stringify({ httpProtocol: version }) },
    });
    const refused = await get(path, large, parameters, over('HTTP/1.0'));
    expect([refused.status, refused.text]).toEqual([
      505,
      expect.stringContaining('proxy_http_version 1.1'),
    ]);
    expect(
      (await get(path, large, parameters, { ...over('HTTP/1.0'), method: 'HEAD' })).status,
    ).toBe(505);
    expect((await get(path, large, parameters, over('HTTP/1.1'))).status).toBe(200);
    expect(
      (await get(path, small, parameters, over('HTTP/1.0'))).headers.get('Content-Length'),
    ).not.toBeNull();
  },
);
