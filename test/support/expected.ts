import { expect } from 'vitest';
import type { Outcome } from './run-tool.ts';

/** The outcome of a command that prints only the reason why it does nothing. */
export const refusal = (reason: string | RegExp): Outcome => ({
  status: 1,
  stdout: '',
  stderr: (typeof reason === 'string'
    ? expect.stringContaining(reason)
    : expect.stringMatching(reason)) as string,
});

/** The outcome of a command that prints only these lines. */
export const printed = (...lines: string[]): Outcome => ({
  status: 0,
  stdout: lines.map((line) => `${line}\n`).join(''),
  stderr: '',
});

/** Texts that contain these, in this order. */
export const containing = (texts: readonly string[]): string[] =>
  texts.map((text) => expect.stringContaining(text) as string);
