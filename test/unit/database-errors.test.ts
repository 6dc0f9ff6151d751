import { NeonDbError } from '@neondatabase/serverless';
import { describe, expect, test } from 'vitest';
import { type FailureKind, failureOf, failureOfStatus } from '../../src/db/errors.ts';

describe('a status of the SQL endpoint', () => {
  test.each<[number, string, FailureKind]>([
    [502, '', 'transient'],
    [507, 'response is too large', 'too-large'],
    [531, '', 'defect'],
    [500, 'Your account has exceeded the compute time quota.', 'unavailable'],
    [500, 'The requested endpoint cannot be found', 'unavailable'],
    [500, 'endpoint is disabled', 'unavailable'],
    [500, 'password authentication failed', 'unavailable'],
    [500, 'authentication failed', 'defect'],
    [401, 'expected "Authorization: Bearer"', 'unavailable'],
    [403, '<html>', 'unavailable'],
    [302, '', 'unavailable'],
  ])('%i %s', (status, body, kind) => {
    expect(failureOfStatus(status, body).kind).toBe(kind);
  });
});

describe('an error of the driver', () => {
  test.each<[string | undefined, string, FailureKind]>([
    ['57P01', 'terminating connection due to administrator command', 'transient'],
    ['53300', 'too many connections', 'transient'],
    ['40001', 'could not serialize access', 'transient'],
    ['08006', 'connection failure', 'transient'],
    ['', 'connection closed', 'transient'],
    ['', 'timeout waiting for server', 'transient'],
    ['57014', 'canceling statement due to statement timeout', 'unavailable'],
    [
      undefined,
      'The endpoint has been disabled. Enable it using the API and retry.',
      'unavailable',
    ],
    [
      undefined,
      'The requested endpoint could not be found, or you have no access to it.',
      'unavailable',
    ],
    [undefined, `password authentication failed for user 'worker'`, 'unavailable'],
    ['28P01', 'password authentication failed for user "worker"', 'unavailable'],
    [
      undefined,
      'This IP address 192.0.2.1 is not allowed to connect to this endpoint.',
      'unavailable',
    ],
    [
      '',
      'invalid connection string (Neon-Connection-String): it names another host',
      'unavailable',
    ],
    ['22P02', 'invalid input syntax for type uuid: "quota"', 'defect'],
    [undefined, 'anything else', 'defect'],
  ])('%s %s', (code, message, kind) => {
    expect(failureOf(Object.assign(new NeonDbError(message), { code })).kind).toBe(kind);
  });

  test.each<[string, Error, FailureKind]>([
    ['a failed fetch', new TypeError('fetch failed'), 'transient'],
    ['a body that is not JSON', new SyntaxError('Unexpected end'), 'transient'],
    [
      'too many subrequests',
      new Error('Too many subrequests by single Worker invocation.'),
      'unavailable',
    ],
  ])('%s', (_, error, kind) => {
    expect(failureOf(error).kind).toBe(kind);
    expect(failureOf(Object.assign(new NeonDbError('x'), { sourceError: error })).kind).toBe(kind);
  });
});
