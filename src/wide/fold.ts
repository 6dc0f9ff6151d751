import { readAnswer } from './answer.ts';
import { Chunks } from './chunks.ts';
import type { QuestionColumns } from './columns.ts';
import { copied } from './copied.ts';
import { type Chain, Participant } from './participant.ts';

/**
 * Folds a survey's answers, in the order of participants and then of time, into the records of a wide file. It holds the
 * records of one participant, and a chunk of the file.
 */
export class Fold {
  readonly #columns: QuestionColumns;
  readonly #chunks = new Chunks();
  #participant: Participant | undefined;
  /** What is not read yet, and how much of it there should be when it is. */
  #text = '';
  #wanted = 0;

  constructor(columns: QuestionColumns) {
    this.#columns = columns;
  }

  /**
   * @param text the next part of the CSV of `ANSWER_COLUMNS`, cut anywhere. An answer to a question without a column was
   * stored after the columns were looked up: it is left out, as if it came too late
   * @returns the next bytes of the file, each chunk valid until the next is asked for
   * @throws ParticipantTooLargeError
   */
  *add(text: string): Generator<Uint8Array, void, void> {
    this.#text += text;
    // What ends within a record is not read again before there is twice as much: a record may have many parts.
    if (this.#text.length < this.#wanted) return;
    yield* this.#read();
    this.#wanted = 2 * this.#text.length;
  }

  /** @returns the last bytes of the file */
  *end(): Generator<Uint8Array, void, void> {
    yield* this.#read();
    if (this.#text !== '') throw new Error('the last record has no end');
    yield* this.#writeParticipant();
    yield* this.#chunks.rest();
  }

  *#read(): Generator<Uint8Array, void, void> {
    const text = this.#text;
    let at = 0;
    for (let answer = readAnswer(text, at); answer; answer = readAnswer(text, at)) {
      at = answer.end;
      const place = this.#columns.places.get(answer.surveyid)?.get(answer.questionRef);
      if (place === undefined) continue;
      if (answer.userid !== this.#participant?.userid) {
        yield* this.#writeParticipant();
        this.#participant = new Participant(answer.userid);
      }
      this.#participant.add(answer, place);
    }
    this.#participant?.leaveText();
    this.#text = copied(text.slice(at));
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
