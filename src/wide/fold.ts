import { readAnswer } from './answer.ts';
import { Chunks } from './chunks.ts';
import type { QuestionColumns } from './columns.ts';
import { type Chain, Participant } from './participant.ts';

/**
 * Folds a survey's answers, in the order of participants and then of time, into the records of a wide file. It holds the
 * records of one participant, and a chunk of the file.
 */
export class Fold {
  readonly #columns: QuestionColumns;
  readonly #chunks = new Chunks();
  #participant: Participant | undefined;

  constructor(columns: QuestionColumns) {
    this.#columns = columns;
  }

  /**
   * @param page records of `ANSWER_COLUMNS`. An answer to a question without a column was stored after the columns were
   * looked up: it is left out, as if it came too late
   * @returns the next bytes of the file
   * @throws ParticipantTooLargeError
   */
  *add(page: string): Generator<Uint8Array, void, void> {
    for (let at = 0; at < page.length;) {
      const answer = readAnswer(page, at);
      at = answer.end;
      const place = this.#columns.places.get(answer.surveyid)?.get(answer.questionRef);
      if (place === undefined) continue;
      if (answer.userid !== this.#participant?.userid) {
        yield* this.#writeParticipant();
        this.#participant = new Participant(answer.userid);
      }
      this.#participant.add(answer, place);
    }
    this.#participant?.leavePage();
  }

  /** @returns the last bytes of the file */
  *end(): Generator<Uint8Array, void, void> {
    yield* this.#writeParticipant();
    yield this.#chunks.rest();
  }

  *#writeParticipant(): Generator<Uint8Array, void, void> {
    for (const [key, chain] of this.#participant?.chains ?? []) {
      this.#writeRecord(key, chain);
      if (this.#chunks.isFull) yield* this.#chunks.full();
    }
    this.#participant = undefined;
  }

  #writeRecord(key: string, { flowid, started, ended, metadata, answers }: Readonly<Chain>): void {
    let record = `${key},${flowid},${started},${ended},${metadata}`;
    let column = -1;
    // What a record costs is the number of its answers, however many columns there are.
    for (const place of [...answers.keys()].toSorted((a, b) => a - b)) {
      record += ','.repeat(place - column) + answers.get(place);
      column = place;
    }
    this.#chunks.add(`${record}${','.repeat(this.#columns.names.length - 1 - column)}\n`);
  }
}
