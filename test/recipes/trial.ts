import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { hardRows } from './hard-rows.ts';
import type { Interpreter } from './interpreters.ts';
import type { Finished } from './programs.ts';
import { type DemoService, startDemoService } from './service.ts';

const RECIPES = fileURLToPath(new URL('../../recipes/', import.meta.url));

/** The service with hard data, to run recipes against. */
export interface Trials {
  /** Name of the demo survey. */
  readonly survey: string;
  /** Name of a survey without responses. */
  readonly emptySurvey: string;
  /** Sends a GET request to the service without the proxy. A recipe's result is compared with the response. */
  get(path: string, params?: Record<string, string>): Promise<{ readonly body: Buffer; readonly headers: Headers }>;
  /** Imports the contents of two files into the demo account. */
  importFiles(contents: { forms: string | Buffer; responses: string }): Promise<void>;
  /** Adds hard responses in one hour, such as `2026-04-10T10`. */
  addResponses(hour: string): Promise<void>;
  /** Runs SQL in the service's database. */
  sql(text: string): Promise<void>;
  /** Creates an empty folder, which `stop` removes. */
  folder(): Promise<string>;
  of(path: string, interpreter: Interpreter): Trial;
  stop(): Promise<void>;
}

/** {@link Trials} for one recipe. */
export interface Trial extends Omit<Trials, 'of' | 'stop'> {
  readonly interpreter: Interpreter;
  /**
   * Runs the recipe as a researcher would: in a folder, with the key in the environment.
   *
   * @returns how it finished, and the number of GET requests
   */
  run(folder: string, options?: TrialOptions): Promise<Finished & { requests: number }>;
}

interface TrialOptions {
  /** Of the recipe's GET requests, in order; further requests pass. */
  readonly faults?: readonly Fault[];
  /** Replaces some of the recipe's settings. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly args?: readonly string[] | undefined;
}

export async function prepareTrials(): Promise<Trials> {
  await using cleanUp = new AsyncDisposableStack();
  const service = await startDemoService();
  cleanUp.defer(() => service.stop());
  const proxy = await startFaultProxy(service.origin);
  cleanUp.defer(() => proxy.close());
  const running = cleanUp.move();
  const trials = trialsOn(service, proxy, running);
  try {
    await trials.addResponses('2026-02-10T10');
    return trials;
  } catch (error) {
    await running.disposeAsync();
    throw error;
  }
}

function trialsOn(service: DemoService, proxy: FaultProxy, cleanUp: AsyncDisposableStack): Trials {
  const common = {
    survey: service.survey,
    emptySurvey: service.emptySurvey,
    async get(path: string, params: Record<string, string> = { survey: service.survey }) {
      const url = `${service.origin}/api/v1${path}?${new URLSearchParams(params).toString()}`;
      const response = await fetch(url, { headers: { Authorization: `Bearer ${service.key}` } });
      if (!response.ok) throw new Error(`${url}: ${await response.text()}`);
      return { body: Buffer.from(await response.arrayBuffer()), headers: response.headers };
    },
    async folder() {
      const folder = await mkdtemp(join(tmpdir(), 'recipe-'));
      cleanUp.defer(() => rm(folder, { recursive: true, force: true }));
      return folder;
    },
    sql: (text: string) => service.sql(text),
    async importFiles({ forms, responses }: { forms: string | Buffer; responses: string }) {
      const folder = await common.folder();
      const files = { forms: join(folder, 'forms.csv'), responses: join(folder, 'responses.csv') };
      await writeFile(files.forms, forms);
      await writeFile(files.responses, responses);
      await service.importFiles(files);
    },
    async addResponses(hour: string) {
      const { body: forms } = await common.get('/responses/form-data');
      const surveyid = forms.toString().split('\n')[1]?.split(',')[0] ?? '';
      await common.importFiles({ forms, responses: hardRows(surveyid, hour) });
    },
  };
  return {
    ...common,
    of: (path, interpreter) => ({
      ...common,
      interpreter,
      async run(folder, { faults = [], env = {}, args } = {}) {
        let requests = 0;
        proxy.inject((exchange) => (exchange.method === 'GET' ? faults[requests++]?.(exchange) : undefined));
        const settings = {
          SURVEY_API: new URL('/api/v1', proxy.url).href,
          SURVEY_KEY: service.key,
          SURVEY: service.survey,
          NO_PROXY: '127.0.0.1',
          no_proxy: '127.0.0.1',
          ...env,
        };
        const finished = await interpreter.run(join(RECIPES, path), { args, cwd: folder, env: settings });
        return { ...finished, requests };
      },
    }),
    stop: () => cleanUp.disposeAsync(),
  };
}
