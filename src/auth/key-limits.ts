import { sha256Hex } from '../encode/bytes.ts';

/**
 * What a limited key sees: `api_keys.limits`, and part of its KV entry. A member that is absent
 * limits nothing.
 */
export interface KeyLimits {
  readonly v: 1;
  /** Only these surveys, by name. */
  readonly surveys?: readonly string[];
  /** Only the forms with these shortcodes. */
  readonly shortcodes?: readonly string[];
  /** Only responses to these questions, by `question_ref`. */
  readonly questions?: readonly string[];
  /** No responses to these questions. */
  readonly without_questions?: readonly string[];
  /** Only these keys of the metadata. */
  readonly metadata?: readonly string[];
  /** Hides the page id, and the key `pageid` of the metadata. */
  readonly pageid?: false;
  /**
   * The key from which pseudonyms of participants are made, to be shown in place of their ids: 32
   * bytes, lower-case hexadecimal.
   */
  readonly secret?: string;
}

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((text) => typeof text === 'string');

/** The checks of the members, in the order in which members are written. */
const CHECKS = Object.entries({
  v: (value) => value === 1,
  surveys: isTexts,
  shortcodes: isTexts,
  questions: isTexts,
  without_questions: isTexts,
  metadata: isTexts,
  pageid: (value) => value === false,
  secret: (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value),
} satisfies Record<keyof KeyLimits, (value: unknown) => boolean>);

/**
 * Reads the stored limits of a key. Refuses members that it does not know, since each could be a
 * limit.
 *
 * @returns the limits, with their members in order; undefined if they have another version, member
 * or type
 */
export function parseKeyLimits(value: unknown): KeyLimits | undefined {
  const given = new Map<string, unknown>(Object.entries(value ?? {}));
  const members = CHECKS.filter(([name]) => given.has(name));
  const areValid = members.every(([name, isValid]) => isValid(given.get(name)));
  if (!given.has('v') || !areValid || members.length < given.size) return undefined;

  return Object.fromEntries(
    members.map(([name]) => [name, given.get(name)]),
  ) as unknown as KeyLimits;
}

/**
 * Describes limits to the holder of the key: with the number of hidden questions instead of their
 * names, and the start of the secret's hash instead of the secret. Keys with the same hash have the
 * same pseudonyms.
 */
export async function describeKeyLimits(limits: KeyLimits): Promise<object> {
  const { secret, without_questions: hidden } = limits;
  const pseudonyms = secret && (await sha256Hex(Uint8Array.fromHex(secret))).slice(0, 8);

  return { ...limits, without_questions: hidden?.length, secret: undefined, pseudonyms };
}
