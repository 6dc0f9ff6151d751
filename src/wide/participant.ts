import type { Answer } from './answer.ts';
import { copied } from './copied.ts';

/** What a record of a wide file is made of: the answers that a participant gave along one chain of forms. */
export interface Chain {
  flowid: string;
  started: string;
  ended: string;
  metadata: string;
  /** The last answer to each question, by the place of its column. */
  readonly answers: Map<number, string>;
}

/** What one participant may hold in memory, in characters and {@link CHAIN_SIZE} and {@link ANSWER_SIZE}. */
export const MAX_PARTICIPANT_SIZE = 16 * 1024 * 1024;
/** What objects take beside their characters, roughly. */
const CHAIN_SIZE = 500;
const ANSWER_SIZE = 60;

/** The answers of one participant cannot be held in memory all at once, and so not be put into records. */
export class ParticipantTooLargeError extends Error {
  override name = 'ParticipantTooLargeError';
}

/** One participant's answers, folded into the records that they make. */
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

  /** Records by what they begin with, in the order of their first answers. */
  get chains(): ReadonlyMap<string, Readonly<Chain>> {
    return this.#chains;
  }

  /**
   * Takes the next answer in order: a later one takes the place of an earlier one.
   *
   * @throws ParticipantTooLargeError
   */
  add(answer: Answer, place: number): void {
    const keep = this.#keep;
    let chain = this.#chains.get(answer.chain);
    if (!chain) {
      const time = keep(answer.timestamp);
      chain = { flowid: '', started: time, ended: time, metadata: '', answers: new Map() };
      this.#chains.set(keep(answer.chain), chain);
      this.#size += CHAIN_SIZE + answer.chain.length;
    }
    const before = chain.answers.get(place);
    this.#size += answer.response.length + answer.metadata.length - chain.metadata.length;
    this.#size += before === undefined ? ANSWER_SIZE : -before.length;
    if (this.#size > MAX_PARTICIPANT_SIZE) {
      throw new ParticipantTooLargeError('the answers of one participant are too large to be put into records');
    }
    chain.flowid = keep(answer.flowid);
    chain.ended = keep(answer.timestamp);
    chain.metadata = keep(answer.metadata);
    chain.answers.set(place, keep(answer.response));
  }

  /** Lets go of the text that the answers so far were cut out of: what is held, and what is still to come, is copied. */
  leaveText(): void {
    if (this.#keep === copied) return;
    this.#keep = copied;
    this.#userid = copied(this.#userid);
    this.#chains = new Map(
      [...this.#chains].map(([key, { flowid, started, ended, metadata, answers }]) => [
        copied(key),
        {
          flowid: copied(flowid),
          started: copied(started),
          ended: copied(ended),
          metadata: copied(metadata),
          answers: new Map([...answers].map(([place, text]) => [place, copied(text)])),
        },
      ]),
    );
  }
}
