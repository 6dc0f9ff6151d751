import { fingerprint32 } from '../encode/farmhash.ts';

/** A treatment arm: one of `arms`, from a participant's seed hashed `hashes` times. */
export interface Arm {
  readonly arms: number;
  readonly hashes: number;
}

/** `seed_N` or `seed_N_M`: N arms, M hashes. */
const NAME = /^seed_([1-9]\d{0,6})(?:_([1-9]\d{0,2}))?$/;

/** @returns undefined unless it is a name such as `seed_2` or `seed_25_2` */
export function parseArm(name: string): Arm | undefined {
  const [, arms, hashes = '0'] = NAME.exec(name) ?? [];
  const arm = { arms: Number(arms), hashes: Number(hashes) };
  const isArm = arm.arms <= 1_000_000 && arm.hashes <= 100; // NaN is not

  return isArm ? arm : undefined;
}

/**
 * The arm of a participant, from 1, as the survey platform computes it.
 *
 * @param seed an unsigned integer of 32 bits
 */
export function armOf({ arms, hashes }: Arm, seed: number): number {
  let hash = seed;
  for (let i = 0; i < hashes; i++) hash = fingerprint32(String(hash));
  return (hash % arms) + 1;
}
