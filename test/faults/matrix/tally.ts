/** What a run has tried, and what came of it. */
export class Tally {
  injected = 0;
  exports = 0;
  same = 0;
  /** Refused with a status, or broken off. */
  visible = 0;
  answersCompared = 0;
  answersLost = 0;
  /** Neither the same bytes nor a visible failure: there must be none. */
  readonly wrong: string[] = [];

  toString(): string {
    return (
      `${this.injected} faults injected into ${this.exports} exports: ${this.same} the same bytes, ` +
      `${this.visible} visible failures, ${this.wrong.length} wrong; ` +
      `${this.answersCompared} rows compared, ${this.answersLost} lost`
    );
  }
}
