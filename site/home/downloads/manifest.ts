import type { Params } from '../api.ts';
import type { RecordFormat } from './records.ts';

/** A file to download. */
export interface DownloadRequest {
  readonly survey: string;
  /** Of the endpoint, below the base path. */
  readonly path: string;
  /** Without `count` and `after`. */
  readonly params: Params;
  /** CSV in the long layout and NDJSON are counted, and continued after an interruption. */
  readonly format: RecordFormat;
  /** Of the file; by default, the one that the service gives it. */
  readonly name?: string;
  /** The format, the layout and the filters, for the user. */
  readonly about?: string;
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

/** What is stored of a download, with its parts: as JSON, which a later version of the page may read. */
export interface Manifest {
  /** Of the account. */
  readonly email: string;
  readonly request: DownloadRequest;
  /** When it was last changed, or saving began, in milliseconds since 1970; 0 for a complete file that has never been saved. */
  time: number;
  /** How many there are. */
  parts: number;
  /** In the parts. */
  bytes: number;
  /** In the parts: records without the header; 0 for workbooks. */
  rows: number;
  /** How many rows the file should have; null if that is not known. */
  total: number | null;
  /** Of a CSV file. */
  columns: readonly (string | null)[];
  /** The cursor of the last record; empty if the next request starts at the beginning. */
  after: string;
  /** Of the file. */
  name: string;
  /** Of the file. */
  type: string;
  isComplete: boolean;
}
