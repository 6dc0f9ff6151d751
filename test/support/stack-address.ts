import { inject } from 'vitest';
import type { StackAddress } from './stack.ts';

let own: StackAddress | undefined;

/** Sets the service for a test file that starts one instead of sharing its project's. */
export function useStack(address: StackAddress): void {
  own = address;
}

/** The address of the service under test. */
export function stackAddress(): StackAddress {
  return own ?? inject('stack');
}
