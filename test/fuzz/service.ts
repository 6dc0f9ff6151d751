import { afterAll, beforeAll } from 'vitest';
import { useStack } from '../support/stack-address.ts';
import { type Stack, startStack } from '../support/stack.ts';

/**
 * Starts a service on a Postgres server for a test file, without the rate limits that so many requests would reach.
 *
 * @param options.entry the Worker's module, if not the service's own
 */
export function withService({ entry }: { entry?: string } = {}): { readonly stack: Stack } {
  let stack: Stack | undefined;
  beforeAll(async () => {
    stack = await startStack({
      limits: { KEY_LIMIT: 1e9, FAILURE_LIMIT: 1e9 },
      ...(entry === undefined ? {} : { entry }),
    });
    useStack(stack.address);
  });
  afterAll(() => stack?.stop());
  return {
    get stack() {
      if (!stack) throw new Error('the service has not started');
      return stack;
    },
  };
}
