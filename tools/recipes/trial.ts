import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RECIPES } from './catalogue.ts';
import { hardRows } from './hard-rows.ts';
import type { Interpreter } from './interpreters.ts';
import type { Ended } from './programs.ts';
import { type DemoService, startDemoService } from './service.ts';
import { type Fault, type SpoilingProxy, startSpoilingProxy } from './spoiling-proxy.ts';

/** The service with hard data in it, and the ways to try a recipe on it. */
export interface Trials {
  /** The demo survey's name. */
  readonly survey: string;
  /** GETs from the service, past the proxy, what a recipe's result is held against. */
  get(path: string, params?: Record<string, string>): Promise<{ readonly body: Buffer; readonly headers: Headers }>;
  /** Adds hard responses of one hour, such as `2026-04-10T10`. */
  addResponses(hour: string): Promise<void>;
  /** A new folder, empty and gone in the end. */
  folder(): Promise<string>;
  /** The same for one recipe. */
  of(path: string, interpreter: Interpreter): Trial;
  stop(): Promise<void>;
}

export interface Trial extends Omit<Trials, 'of' | 'stop'> {
  readonly interpreter: Interpreter;
  /**
   * Runs the recipe as a researcher would: in a folder, with the key in the environment.
   *
   * @param options.faults what happens to its requests, one after the other
   * @param options.key another key than the right one
   */
  run(folder: string, options?: { faults?: readonly Fault[]; key?: string }): Promise<Ended & { requests: number }>;
}

export async function prepareTrials(): Promise<Trials> {
  const cleanUp = new AsyncDisposableStack();
  try {
    const service = await startDemoService();
    cleanUp.defer(() => service.stop());
    const proxy = await startSpoilingProxy(new URL(service.url).origin);
    cleanUp.defer(() => proxy.close());
    const trials = trialsOn(service, proxy, cleanUp);
    await trials.addResponses('2026-02-10T10');
    return trials;
  } catch (error) {
    await cleanUp.disposeAsync();
    throw error;
  }
}

function trialsOn(service: DemoService, proxy: SpoilingProxy, cleanUp: AsyncDisposableStack): Trials {
  const common = {
    survey: service.survey,
    async get(path: string, params: Record<string, string> = { survey: service.survey }) {
      const url = `${service.url}${path}?${new URLSearchParams(params).toString()}`;
      const response = await fetch(url, { headers: { Authorization: `Bearer ${service.key}` } });
      if (!response.ok) throw new Error(`${url}: ${await response.text()}`);
      return { body: Buffer.from(await response.arrayBuffer()), headers: response.headers };
    },
    async folder() {
      const folder = await mkdtemp(join(tmpdir(), 'recipe-'));
      cleanUp.defer(() => rm(folder, { recursive: true, force: true }));
      return folder;
    },
    async addResponses(hour: string) {
      const folder = await common.folder();
      const files = { forms: join(folder, 'forms.csv'), responses: join(folder, 'responses.csv') };
      const { body: forms } = await common.get('/responses/form-data');
      const surveyid = forms.toString().split('\n')[1]?.split(',')[0] ?? '';
      await writeFile(files.forms, forms);
      await writeFile(files.responses, hardRows(surveyid, hour));
      await service.importFiles(files);
    },
  };
  return {
    ...common,
    of: (path, interpreter) => ({
      ...common,
      interpreter,
      async run(folder, { faults = [], key = service.key } = {}) {
        proxy.inject(faults);
        const env = {
          SURVEY_API: `${proxy.origin}/api/v1`,
          SURVEY_KEY: key,
          SURVEY: service.survey,
          NO_PROXY: '127.0.0.1',
          no_proxy: '127.0.0.1',
        };
        const ended = await interpreter.run(join(RECIPES, path), { cwd: folder, env });
        return { ...ended, requests: proxy.requests };
      },
    }),
    stop: () => cleanUp.disposeAsync(),
  };
}
