import { beforeAll, expect, test } from 'vitest';
import { fetchApi } from '../support/api.ts';
import { parseCsv } from '../support/csv.ts';
import { type TestSurvey, addResponses, copyResponses, createAccount, createSurvey } from '../support/data.ts';

/** Texts that a spreadsheet may run as a formula, with ` where it needs an apostrophe. */
const FORMULAS = [
  ...['`=1+1', '`+15551234', '`-5', '`@SUM(A1)', '`|x', '`%x', '`="a,b"'],
  ...['`＝1', '`＋1', '`－1', '`＠x', '`｜x', '`％x', '`−5', '`﹦1', '`﹢1', '`﹣1', '`﹫x', '`﹪x'],
  ...['` =1', '`\u00a0=1', '`\ufeff=1', '`\u200b=1', '` \u200b\u00a0 ＝1', '`\u0001=1'],
  ...['`\t`=1', '`\r`=1', '`\n`=1', '`\tx', '`\rx', '`\nx'],
  ...['x;`=1', 'x;` \ufeff=1', 'x\t`+1', 'x\n`=1', 'x\r\n`-1', 'x;`"=1+1;', 'x;y;`@z; ;`=1', '`=1;`=1', 'x;\t`=1'],
];
const HARMLESS = [
  ...['', '1=1', 'a-b', '"=1"', "'=1", 'ü', '5', '{"a":1}', ' x', 'x; y\n\nz', 'x, -1', 'x;5%', '\u200b', ';'],
];

let survey: TestSurvey;
let whole: Buffer;

beforeAll(async () => {
  survey = await createSurvey(await createAccount(), 'formats', 2);
  const texts = [...FORMULAS.map((text) => text.replaceAll('`', '')), ...HARMLESS];
  await addResponses(
    survey,
    texts.map((text, i) => ({
      form: i % 2,
      userid: text || 'u',
      question_ref: `=${i}`,
      question_text: text,
      response: text,
      translated_response: i % 3 ? text : null,
      parent_shortcode: '=p',
      pageid: '-7',
      metadata: '{"ad_id": "=1", "n": -12345678901234567890.10}',
    })),
  );
  whole = await copyResponses(survey);
});

const get = (path: string, parameters: Record<string, string> = {}) =>
  fetchApi(`${path}?${new URLSearchParams({ survey: survey.name, ...parameters }).toString()}`, {
    key: survey.account.key,
  });

test('safe=true puts an apostrophe wherever a formula could begin, in texts that people typed or chose', async () => {
  const guarded = parseCsv((await get('/responses/csv', { safe: 'true', metadata: 'ad_id' })).bytes);
  const plain = parseCsv(whole);
  const guards = new Map(
    ['`-7', '`=1', ...FORMULAS].map((text) => [text.replaceAll('`', ''), text.replaceAll('`', "'")]),
  );
  const guard = (text: string | null | undefined) => guards.get(text ?? '') ?? text;
  const guarding = new Set(['question_text', 'response', 'ad_id', 'pageid', 'translated_response']);
  const expected = plain.map((row) =>
    Object.fromEntries(
      Object.entries(row)
        .map(([name, text]) => [name, guarding.has(name) ? guard(text) : text])
        .concat([['metadata.ad_id', "'=1"]]),
    ),
  );
  expect(guarded).toEqual(expected);
  expect(guarded.filter((row) => row['response']?.startsWith("'="))).toHaveLength(4);
});

test('safe=true sees a formula after any character that is not visible', async () => {
  const invisible = Array.from({ length: 0x110000 }, (_, code) => code)
    .filter((code) => code > 0 && (code < 0xd800 || code > 0xdfff))
    .map((code) => String.fromCodePoint(code))
    .filter((char) => /[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}]/u.test(char) && !/[\t\r\n]/.test(char));
  const other = await createSurvey(survey.account);
  await addResponses(other, [{ response: invisible.map((char) => `;${char}=`).join('') }]);
  const { bytes } = await fetchApi(`/responses/csv?safe=true&survey=${other.name}`, { key: survey.account.key });
  expect(parseCsv(bytes)[0]?.['response']).toBe(invisible.map((char) => `;'${char}=`).join(''));
});

test('a streamed body is refused over HTTP/1.0, a short one is not', async () => {
  const large = await createSurvey(survey.account);
  await addResponses(
    large,
    Array.from({ length: 600 }, () => ({})),
  );
  // How miniflare passes `request.cf`.
  const over = (version: string) => ({ 'MF-CF-Blob': JSON.stringify({ httpProtocol: version }) });
  for (const path of ['/responses/csv', '/responses/csv?layout=wide', '/responses/xlsx', '/responses/ndjson']) {
    const fetchOver = (version: string, { name }: TestSurvey, method = 'GET') =>
      fetchApi(`${path}${path.includes('?') ? '&' : '?'}survey=${name}`, {
        key: survey.account.key,
        method,
        headers: over(version),
      });
    const refused = await fetchOver('HTTP/1.0', large);
    expect([refused.status, refused.text]).toEqual([505, expect.stringContaining('proxy_http_version 1.1')]);
    expect((await fetchOver('HTTP/1.0', large, 'HEAD')).status).toBe(505);
    expect((await fetchOver('HTTP/1.1', large)).status).toBe(200);
    expect((await fetchOver('HTTP/1.0', survey)).headers.get('Content-Length')).not.toBeNull();
  }
});
