import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGunzip, gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { query } from '../support/api.ts';
import { type TestSurvey, copyResponses, createAccount, createSurvey, sql } from '../support/data.ts';
import { stackAddress } from '../support/stack-address.ts';
import { beginExport, readExport, withFaultyService } from './service.ts';

const service = withFaultyService();

/** Their text hardly compresses: more than sockets and the pages read ahead can hold, even as gzip. */
const ROWS = 35_000;
const GZIP = { 'Accept-Encoding': 'gzip' };
let survey: TestSurvey;
let whole: Buffer;

beforeAll(async () => {
  survey = await createSurvey(await createAccount(), 'bulk', 5);
  await sql(
    `insert into responses (parent_shortcode, surveyid, shortcode, flowid, userid, question_ref, question_idx, question_text, response,
       timestamp, metadata)
     select 'parent', form, 'form', 1600000000001, (n / 6)::text, 'question_' || n % 6, n % 6, 'Question?',
       n || '", ' || (select string_agg(encode(sha512((n || ' ' || i)::bytea), 'base64'), '') from generate_series(1, 22) i),
       timestamptz '2026-03-01Z' + n * interval '0.37 s', '{}'
     from generate_series(0, $2::int - 1) n, lateral (select ($1::uuid[])[1 + n % cardinality($1::uuid[])] as form) f`,
    [survey.forms.map(({ id }) => id), ROWS],
  );
  await sql('vacuum analyze responses');
  whole = await copyResponses(survey);
});

const runningQueries = () =>
  sql<{ query: string }>(
    `select query from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and state = 'active' and backend_type = 'client backend'`,
  );

/** Decompresses a transfer. `complete` is false if it broke off or has no gzip trailer. */
async function unpack(response: IncomingMessage): Promise<{ complete: boolean; bytes: Buffer }> {
  const chunks: Buffer[] = [];
  try {
    await pipeline(response, createGunzip(), async (unpacked: AsyncIterable<Buffer>) => {
      for await (const chunk of unpacked) chunks.push(chunk);
    });
  } catch {
    return { complete: false, bytes: Buffer.concat(chunks) };
  }
  return { complete: response.complete, bytes: Buffer.concat(chunks) };
}

describe('an export under gzip', () => {
  test('decompresses to the same bytes', async () => {
    const response = await beginExport(survey, { headers: GZIP });
    expect(response.headers['content-encoding']).toBe('gzip');
    const { complete, bytes } = await unpack(response);
    expect({ complete, same: bytes.equals(whole) }).toEqual({ complete: true, same: true });
  });

  test('is sent while pages are still being read', async () => {
    const release = new AbortController();
    const released = once(release.signal, 'abort');
    service.proxy.inject(async ({ index }) => {
      if (index >= 5) await released; // the first page, the page boundaries and some pages pass
    });
    const response = await beginExport(survey, { headers: GZIP });
    const gunzip = response.pipe(createGunzip());
    let read = 0;
    for await (const chunk of gunzip) {
      const bytes = chunk as Buffer;
      if (!whole.subarray(read, read + bytes.length).equals(bytes)) throw new Error(`other bytes after ${read}`);
      read += bytes.length;
      if (read > 1_000_000) release.abort(); // the remaining pages are held back until then
    }
    expect(read).toBe(whole.length);
    expect(response.complete).toBe(true);
  });
});

describe('an export under gzip that fails', () => {
  const breakOff = () =>
    service.proxy.inject((exchange) => {
      if (exchange.index >= 7) exchange.reset();
    });

  test('is a broken transfer, and a broken file for clients that ignore that', async () => {
    breakOff();
    const { complete, bytes } = await readExport(await beginExport(survey, { headers: GZIP }));
    expect(complete).toBe(false);
    expect(bytes.length).toBeGreaterThan(1000);
    expect(() => gunzipSync(bytes)).toThrow('unexpected end of file');

    breakOff();
    const unpacked = await unpack(await beginExport(survey, { headers: GZIP }));
    expect(unpacked.complete).toBe(false);
    expect(unpacked.bytes.length).toBeGreaterThan(100_000);
    expect(whole.subarray(0, unpacked.bytes.length).equals(unpacked.bytes)).toBe(true);
  });

  test('is an error to curl', async ({ skip }) => {
    breakOff();
    const url = `${stackAddress().origin}/api/v1/responses/csv${query({ survey: survey.name })}`;
    const curl = spawn('curl', ['-sS', '--compressed', '-H', `Authorization: Bearer ${survey.account.key}`, url], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const code = await once(curl, 'close').then(
      ([status]) => status as number,
      () => skip('curl is not installed'),
    );
    expect(code).toBe(18); // CURLE_PARTIAL_FILE
  });
});

test('a client that pauses a gzip download stops reads from the database, and then gets the whole file', async () => {
  service.proxy.inject();
  const response = await beginExport(survey, { headers: GZIP });
  response.pause();
  let whilePaused = -1;
  while (service.proxy.requests !== whilePaused) {
    whilePaused = service.proxy.requests;
    await sleep(1000);
  }
  expect(await runningQueries()).toEqual([]);
  const { complete, bytes } = await unpack(response);
  expect({ complete, same: bytes.equals(whole) }).toEqual({ complete: true, same: true });
  expect(service.proxy.requests).toBeGreaterThan(whilePaused + 5);
});

test.each([0, 1, 100_000, 2_000_000])(
  'a client that disconnects from a gzip download after %i bytes leaves no query running',
  async (least) => {
    service.proxy.inject();
    const response = await beginExport(survey, { headers: GZIP });
    let read = 0;
    if (least > 0) {
      for await (const chunk of response) {
        read += (chunk as Buffer).length;
        if (read >= least) break;
      }
    }
    response.destroy();
    await sleep(1500);
    expect(await runningQueries()).toEqual([]);
    const { requests } = service.proxy;
    await sleep(500);
    expect(service.proxy.requests).toBe(requests);
  },
);
