import { DatabaseError } from 'pg';

/**
 * A failed request: its HTTP status and the fields of the response, by the names that both `pg` and
 * Neon's proxy use.
 */
export class Failure extends Error {
  override name = 'Failure';
  readonly status: number;
  readonly fields: Partial<DatabaseError>;

  constructor(status: number, message: string, fields: Partial<DatabaseError> = {}) {
    super(message);
    this.status = status;
    this.fields = fields;
  }

  /**
   * The body of the response. Where Neon's proxy has null, this has no field: its driver treats
   * both alike.
   */
  get json(): string {
    return JSON.stringify({ code: '', severity: '', ...this.fields, message: this.message });
  }
}

/** Converts an error of a statement: 400, or 500 for a defect of this program. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  return error instanceof DatabaseError
    ? new Failure(400, error.message, error)
    : new Failure(500, messageOf(error));
}

/**
 * Converts an error of connecting: 400 if Postgres refuses the login (28) or has no such database
 * (3D), otherwise 500, as Neon's proxy.
 */
export function connectFailure(error: unknown): Failure {
  if (!(error instanceof DatabaseError))
    return new Failure(500, `error connecting to server: ${messageOf(error)}`);
  const { code = '', message, severity } = error;
  const fields = code === '28P01' ? {} : { code, severity }; // Neon's proxy has no SQLSTATE for a wrong password
  return new Failure(/^(?:28|3D)/.test(code) ? 400 : 500, message, fields);
}

/**
 * `localhost` has two addresses: if both refuse the connection, the error has a list of errors, and
 * no message.
 */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
