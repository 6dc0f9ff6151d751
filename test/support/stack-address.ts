import { inject } from 'vitest';
import type { StackAddress } from './stack.ts';

let own: StackAddress | undefined;

/** For a test file that starts a service of its own instead of sharing its project's. */
export function useStack(address: StackAddress): void {
  own = address;
}

/** Where the service under test is. */
export function stackAddress(): StackAddress {
  return own ?? inject('stack');
}
