import type { ResponseRecord } from './record.ts';

/** A record of a wide file: a participant's responses along one chain of forms. */
export interface Chain {
  flowid: string;
  started: string;
  ended: string;
  metadata: string;
  /** The last response to each question, by column index. */
  readonly responses: Map<number, string>;
}

/** The limit for one participant: characters, plus {@link CHAIN_SIZE} per record and {@link RESPONSE_SIZE} per response. */
export const MAX_PARTICIPANT_SIZE = 16 * 1024 * 1024;
/** The approximate size of objects without their characters. */
const CHAIN_SIZE = 500;
const RESPONSE_SIZE = 60;

/** The responses of one participant do not fit in memory. */
export class ParticipantTooLargeError extends Error {
  override name = 'ParticipantTooLargeError';
}

/** Copies a string. In V8, a slice is a view that keeps the whole string in memory. */
export const copied = (text: string): string => ` ${text}`.slice(1);

/** One participant's responses, folded into records. */
export class Participant {
  #userid: string;
  #chains = new Map<string, Chain>();
  #size = 0;
  #keep = (text: string) => text;

  constructor(userid: string) {
    this.#userid = userid;
  }

  get userid(): string {
    return this.#userid;
  }

  /** Records by their first cells, ordered by their first responses. */
  get chains(): ReadonlyMap<string, Readonly<Chain>> {
    return this.#chains;
  }

  /**
   * Adds the next response in order; it replaces an earlier one to the same question.
   *
   * @throws ParticipantTooLargeError
   */
  add(record: ResponseRecord, column: number): void {
    const keep = this.#keep;
    let chain = this.#chains.get(record.chain);
    if (!chain) {
      const time = keep(record.timestamp);
      chain = { flowid: '', started: time, ended: time, metadata: '', responses: new Map() };
      this.#chains.set(keep(record.chain), chain);
      this.#size += CHAIN_SIZE + record.chain.length;
    }
    const previous = chain.responses.get(column);
    this.#size += record.response.length + record.metadata.length - chain.metadata.length;
    this.#size += previous === undefined ? RESPONSE_SIZE : -previous.length;
    if (this.#size > MAX_PARTICIPANT_SIZE) {
      throw new ParticipantTooLargeError('the responses of one participant do not fit in memory');
    }
    chain.flowid = keep(record.flowid);
    chain.ended = keep(record.timestamp);
    chain.metadata = keep(record.metadata);
    chain.responses.set(column, keep(record.response));
  }

  /** Copies everything held, and from now on everything added, so that the text it was parsed from can be freed. */
  detach(): void {
    if (this.#keep === copied) return;
    this.#keep = copied;
    this.#userid = copied(this.#userid);
    this.#chains = new Map(
      [...this.#chains].map(([key, { flowid, started, ended, metadata, responses }]) => [
        copied(key),
        {
          flowid: copied(flowid),
          started: copied(started),
          ended: copied(ended),
          metadata: copied(metadata),
          responses: new Map([...responses].map(([column, text]) => [column, copied(text)])),
        },
      ]),
    );
  }
}
