/** What a run has tried, and what came of it. */
export class Tally {
  injected = 0;
  restarts = 0;
  requests = 0;
  same = 0;
  /** Refused with a status, or broken off. */
  visible = 0;
  answersCompared = 0;
  answersLost = 0;
  /** Neither the same bytes nor a visible failure: there must be none. */
  readonly wrong: string[] = [];
  /** Faults at requests that were never made: a trial that tries nothing. */
  readonly unmet: string[] = [];

  /** Takes over what another has counted. */
  add(other: Tally): void {
    for (const field of COUNTS) this[field] += other[field];
    this.wrong.push(...other.wrong);
    this.unmet.push(...other.unmet);
  }

  toString(): string {
    return (
      `${this.injected} faults and ${this.restarts} restarts met ${this.requests} requests: ${this.same} the same bytes, ` +
      `${this.visible} visible failures, ${this.wrong.length} wrong; ` +
      `${this.answersCompared} rows compared, ${this.answersLost} lost`
    );
  }
}

const COUNTS = ['injected', 'restarts', 'requests', 'same', 'visible', 'answersCompared', 'answersLost'] as const;
