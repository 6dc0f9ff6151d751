import type { Cursor } from '../../src/responses/cursor.ts';

/** A naive encoder of response tokens, to compare the service's with. */
export function encodeCursor({ timestamp, userid, questionRef, surveyid }: Required<Cursor>): string {
  return Buffer.from(JSON.stringify([1, timestamp, userid, questionRef, surveyid])).toString('base64url');
}
