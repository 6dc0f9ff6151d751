import { type KeyLimits, describeKeyLimits, parseKeyLimits } from '../../src/auth/key-limits.ts';
import { counted } from '../command.ts';

/**
 * What a list shows of a key's limits, as `/key` does: never the secret. Null for a key that sees
 * everything.
 */
export type ShownLimits =
  | null
  | 'unknown' // the service refuses the key
  | (Omit<KeyLimits, 'without_questions' | 'secret'> & {
      readonly without_questions?: number;
      readonly pseudonyms?: string;
    });

/** @param stored `api_keys.limits` */
export async function showLimits(stored: unknown): Promise<ShownLimits> {
  if (stored === null) return null;
  const limits = parseKeyLimits(stored);
  return limits ? ((await describeKeyLimits(limits)) as ShownLimits) : 'unknown';
}

/** What `pageid: false` promises. The page says it in the same words. */
export const NO_PAGEID = 'no "pageid" (the column and the metadata key)';

/** Limits in a few words, such as `3 surveys, no metadata`. */
export function inShort(limits: ShownLimits): string {
  if (limits === null || limits === 'unknown') return limits ?? '-';
  const {
    surveys,
    shortcodes,
    questions,
    without_questions: hidden,
    metadata,
    pageid,
    pseudonyms,
  } = limits;
  const parts = [
    surveys && counted(surveys.length, 'survey'),
    shortcodes && counted(shortcodes.length, 'form'),
    questions && counted(questions.length, 'question'),
    hidden !== undefined && `without ${counted(hidden, 'question')}`,
    metadata && (metadata.length > 0 ? counted(metadata.length, 'metadata key') : 'no metadata'),
    pageid === false && NO_PAGEID,
    pseudonyms && `pseudonyms ${pseudonyms}`,
  ];

  return parts.filter(Boolean).join(', ');
}
