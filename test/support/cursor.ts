import type { Cursor } from '../../src/responses/cursor.ts';

/** A response's token, plainly: what the service writes is held against it. */
export function encodeCursor({ timestamp, userid, questionRef, surveyid }: Required<Cursor>): string {
  return Buffer.from(JSON.stringify([1, timestamp, userid, questionRef, surveyid])).toString('base64url');
}
