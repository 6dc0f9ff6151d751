import { DatabaseError } from 'pg';
import { messageOf } from '../command.ts';

/** Fields of a Postgres error, by the names that both `pg` and Neon's proxy use. */
type ErrorFields = Partial<DatabaseError>;

/** A failed request: its HTTP status and the fields of the response. */
export class Failure extends Error {
  override name = 'Failure';
  readonly status: number;
  readonly fields: ErrorFields;

  constructor(status: number, message: string, fields: ErrorFields = {}) {
    super(message);
    this.status = status;
    this.fields = fields;
  }
}

/** Converts an error of a statement, or of the gateway itself. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof DatabaseError) return new Failure(400, error.message, error);
  return new Failure(500, messageOf(error));
}

/** Converts an error of connecting to the database. */
export function connectFailure(error: unknown): Failure {
  if (!(error instanceof DatabaseError)) return new Failure(500, `error connecting to server: ${messageOf(error)}`);
  return new Failure(error.code === '3D000' ? 400 : 500, error.message, error);
}

/** The order of the fields after the message. */
const FIELD_NAMES = [
  ...(['code', 'detail', 'hint', 'position', 'internalPosition', 'internalQuery', 'severity', 'where'] as const),
  ...(['table', 'column', 'schema', 'dataType', 'constraint', 'file', 'line', 'routine'] as const),
];

/** The body of an error response: all fields, with an empty text or null for those that the error lacks. */
export function failureJson({ message, fields }: Failure): string {
  const missing = (name: string) => (name === 'code' || name === 'severity' ? '' : null);
  return JSON.stringify({
    message,
    ...Object.fromEntries(FIELD_NAMES.map((name) => [name, fields[name] ?? missing(name)])),
  });
}
