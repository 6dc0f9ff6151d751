// Failures of a request, and how Neon's proxy puts them on the wire: proxy/src/serverless/sql_over_http.rs, `handle`.

/** The fields of Postgres' ErrorResponse by their letters, e.g. `C` for the SQLSTATE. */
export type ErrorFields = ReadonlyMap<string, string>;

/** A failure that the client is told. */
export class Failure extends Error {
  override name = 'Failure';
  readonly status: number;
  readonly fields: ErrorFields;

  /** @param status of the HTTP response */
  constructor(status: number, text: string, fields: ErrorFields = new Map()) {
    super(text);
    this.status = status;
    this.fields = fields;
  }
}

/** An error that Postgres reports, such as a syntax error. */
export function sqlFailure(fields: ErrorFields): Failure {
  return new Failure(400, fields.get('M') ?? 'db error', fields);
}

/** The connection to the database broke while it ran a query. */
export function lostConnection(): Failure {
  return new Failure(400, 'connection closed');
}

/** The client has gone: nobody reads this. */
export function clientGone(): Failure {
  return new Failure(400, 'Query cancelled, connection was terminated', new Map([['C', '08P01']]));
}

/** The JSON of an error response. */
export function failureJson({ message, fields }: Failure): string {
  const get = (letter: string) => fields.get(letter) ?? null;
  return JSON.stringify({
    message,
    code: fields.get('C') ?? '',
    detail: get('D'),
    hint: get('H'),
    position: get('P'),
    internalPosition: get('p'),
    internalQuery: get('q'),
    severity: fields.get('S') ?? '',
    where: get('W'),
    table: get('t'),
    column: get('c'),
    schema: get('s'),
    dataType: get('d'),
    constraint: get('n'),
    file: get('F'),
    line: get('L'),
    routine: get('R'),
  });
}
