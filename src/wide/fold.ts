import { Chunks } from './chunks.ts';
import type { QuestionColumns } from './columns.ts';
import { type Chain, Participant, copied } from './participant.ts';
import { readRecord } from './record.ts';

/**
 * Folds responses, in the order of participants and then of time, into the records of a wide file. It holds the records of one
 * participant, and one chunk of the file.
 */
export class Fold {
  readonly #columns: QuestionColumns;
  readonly #chunks = new Chunks();
  #participant: Participant | undefined;
  /** The text that has not been parsed yet, and the length at which to parse it. */
  #text = '';
  #wanted = 0;

  constructor(columns: QuestionColumns) {
    this.#columns = columns;
  }

  /**
   * @param text the next part of the CSV of `RECORD_COLUMNS`, split anywhere. Responses to a question without a column are
   *   skipped: they were stored after the columns were determined
   * @returns the next bytes of the file; each chunk is valid until the next is requested
   * @throws ParticipantTooLargeError
   */
  *add(text: string): Generator<Uint8Array, void, void> {
    this.#text += text;
    // A record can have many parts: an incomplete one is parsed again only when the text has doubled.
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
    for (let record = readRecord(text, at); record; record = readRecord(text, at)) {
      at = record.end;
      const column = this.#columns.indexes.get(record.surveyid)?.get(record.questionRef);
      if (column === undefined) continue;
      if (record.userid !== this.#participant?.userid) {
        yield* this.#writeParticipant();
        this.#participant = new Participant(record.userid);
      }
      this.#participant.add(record, column);
    }
    this.#participant?.detach();
    this.#text = copied(text.slice(at));
  }

  *#writeParticipant(): Generator<Uint8Array, void, void> {
    for (const [key, chain] of this.#participant?.chains ?? []) {
      this.#writeRecord(key, chain);
      if (this.#chunks.isFull) yield* this.#chunks.full();
    }
    this.#participant = undefined;
  }

  /** Takes time in proportion to the record's responses, not to the file's columns. */
  #writeRecord(key: string, { flowid, started, ended, metadata, responses }: Readonly<Chain>): void {
    let record = `${key},${flowid},${started},${ended},${metadata}`;
    let previous = -1;
    for (const column of [...responses.keys()].toSorted((a, b) => a - b)) {
      record += ','.repeat(column - previous) + responses.get(column);
      previous = column;
    }
    this.#chunks.add(`${record}${','.repeat(this.#columns.names.length - 1 - previous)}\n`);
  }
}
