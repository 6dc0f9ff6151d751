import { afterAll, beforeAll } from 'vitest';
import { useStack } from '../support/stack-address.ts';
import { type Stack, startStack } from '../support/stack.ts';

/**
 * Starts the service for a test file, with rate limits that are never reached.
 *
 * @param options.entry the Worker's module; by default the service's
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
      if (!stack) throw new Error('the service is not running');
      return stack;
    },
  };
}
