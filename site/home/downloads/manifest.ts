import type { Params } from '../api.ts';
import type { RecordFormat } from './records.ts';

/** A file to download. */
export interface DownloadRequest {
  readonly survey: string;
  /** The endpoint's path, below the base path. */
  readonly path: string;
  /** The parameters of the query, without `count` and `after`. */
  readonly params: Params;
  /** CSV in the long layout and NDJSON are counted, and continued after an interruption. */
  readonly format: RecordFormat;
  /** The file's name. */
  readonly name: string;
  /** The format, the layout and the filters, for the user. */
  readonly about: string;
}

/** A manifest's properties before anything has arrived. */
export const NOTHING = {
  parts: 0,
  bytes: 0,
  rows: 0,
  total: null,
  columns: [],
  after: '',
  name: '',
  type: '',
} as const;

/**
 * What is stored of a download beside its parts, as JSON. A later version of the page may read it.
 */
export interface Manifest {
  /** The account's e-mail address. */
  readonly email: string;
  readonly request: DownloadRequest;
  /**
   * When it was last changed, or saving began, in milliseconds since 1970; 0 for a complete file
   * that has never been saved.
   */
  time: number;
  /** The number of parts. */
  parts: number;
  /** The number of bytes in the parts. */
  bytes: number;
  /** The number of records in the parts, without the header; 0 for workbooks. */
  rows: number;
  /** How many rows the file should have; null if that is not known. */
  total: number | null;
  /** The columns of a CSV file. */
  columns: readonly (string | null)[];
  /** The cursor of the last record; empty if the next request starts at the beginning. */
  after: string;
  /** The file's name and media type. */
  name: string;
  type: string;
  isComplete: boolean;
}
