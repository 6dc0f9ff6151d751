/** What became of a file's rows. */
export interface Counts {
  /** Not stored before. */
  new: number;
  /** Stored before with other values: now with the file's. */
  changed: number;
  /** Stored before with the very same values. */
  unchanged: number;
}

export function addCounts(a: Counts, b: Counts): Counts {
  return { new: a.new + b.new, changed: a.changed + b.changed, unchanged: a.unchanged + b.unchanged };
}
