import type { Database } from '../db/database.ts';
import type { Question } from '../db/questions.ts';
import type { RecordWriter } from '../encode/records.ts';
import type { EncodedRows } from '../encode/rows.ts';
import type { FileType } from '../http/attachment.ts';
import type { ApiError } from '../http/errors.ts';
import type { ParameterName, Values } from '../http/parameters.ts';
import type { Selection } from '../responses/selection.ts';
import type { PageFormat } from './page-format.ts';

/** The parameters of a request for a file: those that its endpoint has. */
export type FileQuery = Partial<Values<ParameterName>>;

/**
 * A format in which responses are exported as one file. To add one, write a file in this folder,
 * and a route that sends it.
 */
export interface ExportFormat {
  readonly type: FileType;
  /**
   * Determines what depends on the selection, before the response starts. May be called twice for a
   * request, since the form versions of a survey can have changed.
   *
   * @param query the request's parameters
   * @throws ApiError 400 for a selection that does not fit the format
   */
  readonly prepare: (
    selection: Selection,
    query: FileQuery,
    db: Database,
    holdRecord: HoldRecord,
  ) => ExportFile | Promise<ExportFile>;
}

/** A file of a selection's responses. */
export interface ExportFile {
  /** How its pages are read. */
  readonly format: PageFormat;
  /** The number of responses, if it is known. */
  readonly total?: number;
  /** The error for a first row that does not fit in memory. */
  readonly rowTooLarge?: ApiError;
  /**
   * Writes the file.
   *
   * @param pages the responses; a page's memory is freed before the next page is read
   * @param first the first of the pages, empty if there are no responses
   * @returns chunks, each valid until the next is requested
   */
  readonly write: (
    pages: AsyncIterable<EncodedRows>,
    first: EncodedRows,
  ) => AsyncIterable<Uint8Array>;
}

/** Makes room for a record that is held besides the pages, in bytes. */
export type HoldRecord = (bytes: number) => Promise<void>;

export type Pages = AsyncIterable<EncodedRows> | Iterable<EncodedRows>;

/** Writes the records of a table, made from pages of rows. */
export type WriteRecords = (
  writer: RecordWriter,
  pages: Pages,
) => AsyncGenerator<Uint8Array, void, void>;

/** A table of responses: a file, except for how its cells are written. */
export interface Table extends Omit<ExportFile, 'write' | 'total'> {
  /** The names of its columns. */
  readonly names: readonly string[];
  /** The questions that have columns, which are the last ones; none in the long layout. */
  readonly questions?: readonly Question[];
  readonly records: WriteRecords;
}
