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

/** The body of an error response. Where Neon's proxy has null, this has no field: its driver treats both alike. */
export const failureJson = ({ message, fields }: Failure): string =>
  JSON.stringify({ message, code: '', severity: '', ...fields });
