import type { Connection } from './connection.ts';
import { JsonWriter } from './json-writer.ts';
import type { Statement, Work } from './request.ts';
import { ResultJson, type ResultFormat } from './result-json.ts';

/** The parts of {@link ResultFormat} that are the same for all statements of a request. */
type RequestFormat = Omit<ResultFormat, 'arrayMode'>;

/**
 * Runs what a request asks for and returns the response's JSON in pieces. The statements of a batch are one transaction: an error in
 * one of them undoes all.
 *
 * @throws Failure
 */
export async function execute(
  connection: Connection,
  work: Work,
  format: RequestFormat,
  signal: AbortSignal,
): Promise<Buffer[]> {
  const json = new JsonWriter();
  if ('single' in work) {
    await run(work.single);
    return json.chunks();
  }
  await connection.command(work.begin);
  json.raw('{"results":[');
  for (const [index, statement] of work.batch.entries()) {
    if (index > 0) json.raw(',');
    await run(statement);
  }
  await connection.command('COMMIT');
  json.raw(']}');
  return json.chunks();

  async function run(statement: Statement): Promise<void> {
    const result = new ResultJson(json, { ...format, arrayMode: statement.arrayMode });
    await connection.query(statement.text, statement.parameters, result, signal);
    result.finish();
  }
}
