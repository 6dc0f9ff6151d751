import { afterAll, beforeAll } from 'vitest';
import { useStack } from '../support/stack-address.ts';
import { type Stack, startStack } from '../support/stack.ts';

/** Starts a service on a Postgres server for a test file, without the rate limits that so many requests would reach. */
export function withService(): { readonly stack: Stack } {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack('postgres', { limits: { KEY_LIMIT: 1e9, FAILURE_LIMIT: 1e9 } });
    useStack(stack.address);
  });
  afterAll(() => stack.stop());
  return {
    get stack() {
      return stack;
    },
  };
}
