import * as access from './access.ts';
import * as endedKeys from './ended-keys.ts';
import * as files from './files.ts';
import { type Check, type Result, runChecks } from './run-checks.ts';
import { Subject, type VerifyOptions } from './subject.ts';

/** What a deployment can break. The rest of docs/api.md is left to the tests of the service. */
export const CHECKS: readonly Check<Subject>[] = [
  { name: 'the service reaches its database', run: access.checkHealth },
  { name: 'without a valid key, the status is 401', run: access.checkRefusals },
  { name: 'the key is accepted', run: access.checkKey },
  { name: "neither key sees the other account's surveys", run: access.checkScoping },
  { name: 'placement and round trips are measured', run: access.measureRoundTrips },
  { name: "the account's surveys are listed and counted", run: files.chooseSurvey },
  { name: 'the CSV file has as many responses as were counted', run: files.checkCsv },
  { name: 'the NDJSON file has the same responses', run: files.checkNdjson },
  { name: 'with gzip, the CSV file has the same bytes', run: (subject) => files.checkGzip(subject, 1) },
  { name: 'four simultaneous exports have the same bytes', run: (subject) => files.checkGzip(subject, 4) },
  { name: 'a CSV file resumed in the middle continues with the same bytes', run: files.checkResuming },
  { name: 'the workbook is complete', run: files.checkWorkbook },
  { name: 'summary and codebook count the same responses', run: files.checkCounts },
  { name: 'the digests match the CSV file and the form data', run: files.checkDigests },
  { name: 'an aborted transfer is visible over HTTP/1.1', run: endedKeys.checkAbort('HTTP/1.1') },
  { name: 'an aborted transfer is visible over HTTP/2', run: endedKeys.checkAbort('HTTP/2') },
  { name: 'an aborted transfer is visible with gzip', run: endedKeys.checkAbort('gzip') },
  { name: 'a revoked key is refused within 5 minutes', run: endedKeys.checkRevocation },
];

/** Tests a running service. @returns the result of each check */
export function verify(origin: string, options: VerifyOptions = {}): Promise<Result[]> {
  return runChecks(CHECKS, new Subject(origin, options), options);
}
