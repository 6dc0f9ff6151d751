import type { Context } from 'hono';
import type { Database } from '../db/client.ts';
import { countResponses } from '../db/responses.ts';
import { withSurvey } from '../db/surveys.ts';
import type { ExportFile } from '../formats/file-format.ts';
import type { AppEnv } from '../http/context.ts';
import { ifTooLarge } from '../http/errors.ts';
import type { Selection } from '../responses/selection.ts';
import { pageReader } from './page-reader.ts';
import { type ResponsesQuery, requireResponses, selectFrom } from './select-responses.ts';

/**
 * Finds the responses that a query selects, reads the first of them, and counts all if the query requests it.
 *
 * @param prepare determines what depends on the selection. May be called twice: see {@link withSurvey}.
 * @param limit the number of responses to read
 * @throws ApiError if the survey has no responses
 */
export async function readFirst<File extends Pick<ExportFile, 'format' | 'rowTooLarge' | 'total'>>(
  c: Context<AppEnv>,
  query: ResponsesQuery,
  prepare: (selection: Selection, db: Database, signal: AbortSignal) => File | Promise<File>,
  limit: number,
) {
  const { account, db, signal } = c.var;
  const { after, survey } = query;
  const begun = await withSurvey(db, account.id, survey, signal, async (formVersions, reading) => {
    const selection = selectFrom(c, query, formVersions);
    const file = await prepare(selection, db, reading);
    const { format, rowTooLarge } = file;
    const reader = pageReader(db, selection, format, reading);
    const count = () => countResponses(db, selection, after, reading, format.order);
    const [first, total] = await Promise.all([
      reader.page({ after, limit }).catch(ifTooLarge(rowTooLarge)),
      query.count ? (file.total ?? count()) : undefined,
    ]);
    return { file, reader, first, total };
  });
  if (begun.first.rowCount === 0) await requireResponses(c, survey);
  return begun;
}
