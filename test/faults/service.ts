import { type IncomingMessage, get } from 'node:http';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { query } from '../support/api.ts';
import type { TestSurvey } from '../support/data.ts';
import { stackAddress, useStack } from '../support/stack-address.ts';
import { type Stack, type StackOptions, startStack } from '../support/stack.ts';

/** Short, so that tests reach the end of retries. */
const EXPORT_RETRY_SECONDS = 3;

/** Starts a service for a test file, with a fault proxy between its Worker and the database. */
export function withFaultyService(options: Omit<StackOptions, 'startProxy'> = {}): {
  readonly proxy: FaultProxy;
  readonly stack: Stack;
} {
  let proxy: FaultProxy;
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({
      ...options,
      vars: { EXPORT_RETRY_SECONDS: String(EXPORT_RETRY_SECONDS), ...options.vars },
      startProxy: async (endpoint) => {
        proxy = await startFaultProxy(endpoint);
        return proxy.url;
      },
    });
    useStack(stack.address);
  });
  afterEach(() => proxy.inject());
  afterAll(async () => {
    await proxy.close();
    await stack.stop();
  });
  return {
    get proxy() {
      return proxy;
    },
    get stack() {
      return stack;
    },
  };
}

/** Starts the download of a survey's CSV. */
export async function beginExport(
  survey: TestSurvey,
  { parameters = {}, headers = {} }: { parameters?: Record<string, string>; headers?: Record<string, string> } = {},
): Promise<IncomingMessage> {
  const url = `${stackAddress().origin}/api/v1/responses/csv${query({ survey: survey.name, ...parameters })}`;
  const request = get(url, { agent: false, headers: { Authorization: `Bearer ${survey.account.key}`, ...headers } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

/** Reads a download to its end. `complete` is false if the transfer broke off. */
export async function readExport(response: IncomingMessage): Promise<{ complete: boolean; bytes: Buffer }> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer);
  } catch {
    return { complete: false, bytes: Buffer.concat(chunks) };
  }
  return { complete: response.complete, bytes: Buffer.concat(chunks) };
}
