/** What a run has done and found. */
export class Tally {
  /** Rows in complete responses, each compared. */
  rows = 0;
  readonly problems: string[] = [];
  readonly #passed = new Map<string, number>();

  pass(check: string): void {
    this.#passed.set(check, (this.#passed.get(check) ?? 0) + 1);
  }

  fail(problem: string): void {
    this.problems.push(problem);
  }

  get passed(): number {
    return [...this.#passed.values()].reduce((sum, count) => sum + count, 0);
  }

  /** How often each check passed. */
  lines(): string[] {
    return [...this.#passed]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, count]) => `${String(count).padStart(7)}  ${name}`);
  }

  toString(): string {
    return `${this.passed} checks passed, ${this.problems.length} failed; ${this.rows} rows compared`;
  }
}
