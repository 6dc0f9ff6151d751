/** The counts of a run. */
export class Tally {
  injected = 0;
  restarts = 0;
  requests = 0;
  same = 0;
  /** Error statuses and broken transfers. */
  visible = 0;
  rowsCompared = 0;
  rowsLost = 0;
  /** Outcomes that are neither the same bytes nor a visible failure. */
  readonly wrong: string[] = [];

  toString(): string {
    return (
      `${this.injected} faults and ${this.restarts} restarts in ${this.requests} requests: ${this.same} with the same bytes, ` +
      `${this.visible} visible failures, ${this.wrong.length} wrong; ` +
      `${this.rowsCompared} rows compared, ${this.rowsLost} lost`
    );
  }
}
