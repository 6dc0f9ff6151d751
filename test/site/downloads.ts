import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { type TestAccount, type TestSurvey, addResponses, createAccount, createSurvey } from '../support/data.ts';

export interface DownloadRequest {
  readonly survey: string;
  readonly path: string;
  readonly params: readonly (readonly [string, string])[];
  readonly format: 'csv' | 'ndjson' | 'wide' | 'other';
}

/** A request for a file of responses. @param parameters besides `survey` */
export function downloadRequestOf(
  survey: TestSurvey,
  format: DownloadRequest['format'],
  path: string,
  parameters: Record<string, string> = {},
) {
  const params = Object.entries({ survey: survey.name, ...parameters });
  return { survey: survey.name, path: `/responses/${path}`, params, format };
}

/** The API's path of a file. */
export const pathOf = ({ path, params }: DownloadRequest) =>
  `${path}?${params.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`;

/** A survey whose rows have quotes, line breaks and characters of several bytes, also in the columns of a cursor. */
export async function createHostileSurvey(rows = 400): Promise<TestSurvey> {
  const survey = await createSurvey(await createAccount(), 'Étude “1” <script> مسح');
  await addResponses(
    survey,
    Array.from({ length: rows }, (_, i) => ({
      userid: `Åsa "${i % 7}",\n🌍`,
      question_ref: `q\r\n${i}`,
      response: `${i} "quoted",\nline\r\n🌍`.repeat(1 + (i % 40)),
      translated_response: i % 3 === 0 ? '' : null,
      metadata: `{"é": "\\"${i}\\""}`,
    })),
  );
  return survey;
}

/** A module with the parts of the page that download. */
const module = build({
  stdin: {
    contents: "export { createApi } from './api.ts'; export { createDownloads } from './downloads.ts';",
    resolveDir: fileURLToPath(new URL('../../site/home', import.meta.url)),
  },
  bundle: true,
  format: 'esm',
  write: false,
});

/** Adds the downloads of an account to a page, which then offers what is unfinished. */
export async function addDownloads(page: Page, { key, email }: TestAccount): Promise<void> {
  const body = (await module).outputFiles[0]?.text ?? '';
  await page.route('**/downloads.js', (route) => route.fulfill({ contentType: 'text/javascript', body }));
  await page.evaluate(`(async () => {
    const { createApi, createDownloads } = await import('/downloads.js');
    const api = createApi(${JSON.stringify(key)}, () => {});
    globalThis.downloads = createDownloads({ api, email: ${JSON.stringify(email)} });
    document.body.append(downloads.element);
  })()`);
}

/** Starts a download in a page with {@link addDownloads}. */
export const start = (page: Page, request: DownloadRequest) =>
  page.evaluate(`downloads.start(${JSON.stringify(request)})`);

/** The file that the browser saves while `action` runs, or after it. */
export async function saved(page: Page, action: () => Promise<unknown>): Promise<{ name: string; bytes: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent('download'), action()]);
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
}

/** Compares large files without printing them. */
export function expectSame(received: Buffer, expected: Buffer): void {
  expect(received.length).toBe(expected.length);
  expect(received.equals(expected)).toBe(true);
}

/** The names of the files that the page keeps in the browser: `<folder>/<name>`, with folders by number. */
export const keptFiles = (page: Page) =>
  page.evaluate<string[]>(`(async () => {
    const root = await navigator.storage.getDirectory();
    const files = [];
    let folders = 0;
    for await (const folder of root.values()) {
      for await (const name of folder.keys()) files.push(folders + '/' + name);
      folders++;
    }
    return files.toSorted();
  })()`);

/** The problems that a test does not provoke by cutting connections. */
export const otherProblems = (problems: readonly string[]) =>
  problems.filter((problem) => !problem.startsWith('console: Failed to load resource: net::ERR_'));
