import type { Outcome } from './outcome.ts';
import { QUERY_TYPES, type QueryType } from './results.ts';

/** The counts of a lie's outcomes. */
type LieCounts = Record<Outcome['type'], number>;

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
  /** By lie, and by the query whose results it altered. */
  readonly #lies = new Map<string, Map<QueryType, LieCounts>>();

  countLie(name: string, type: QueryType, outcome: Outcome): void {
    const types = this.#lies.get(name) ?? new Map<QueryType, LieCounts>();
    const counts = types.get(type) ?? { same: 0, failure: 0, wrong: 0 };
    counts[outcome.type]++;
    this.#lies.set(name, types.set(type, counts));
  }

  /** A table of requests with lies: the same bytes, visible failures and wrong outcomes, by the results that were altered. */
  lieTable(): string {
    const line = (name: string, cells: readonly string[]) => name.padEnd(36) + cells.map((c) => c.padEnd(16)).join('');
    const rows = [...this.#lies]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, types]) => {
        const cells = QUERY_TYPES.map((type) => types.get(type));
        return line(
          name,
          cells.map((counts) => (counts ? `${counts.same} ${counts.failure} ${counts.wrong}` : '')),
        );
      });
    return [line('lies (same, visible, wrong)', QUERY_TYPES), ...rows].join('\n');
  }

  toString(): string {
    return (
      `${this.injected} faults and ${this.restarts} restarts in ${this.requests} requests: ${this.same} with the same bytes, ` +
      `${this.visible} visible failures, ${this.wrong.length} wrong; ` +
      `${this.rowsCompared} rows compared, ${this.rowsLost} lost`
    );
  }
}
