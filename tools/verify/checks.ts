import * as endedKeys from './ended-keys.ts';
import * as files from './files.ts';
import * as front from './front.ts';
import type { Check } from './run-checks.ts';
import type { Subject } from './subject.ts';

/**
 * What a deployment can break. The rest of docs/api.md is left to the tests of the service. To add a check, add a row: a statement,
 * and a function that throws a Mismatch if it does not hold, or NotTested if it cannot be tested.
 */
export const CHECKS: readonly Check<Subject>[] = [
  { name: 'the service reaches its database', run: front.checkHealth },
  { name: 'without a valid key, the status is 401', run: front.checkRefusals },
  { name: 'the key is accepted', run: front.checkKey },
  { name: "neither key sees the other account's surveys", run: front.checkScoping },
  { name: 'placement and round trips are measured', run: front.measureRoundTrips },
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
  { name: 'no response is cached; each has CORS headers and a unique X-Request-Id', run: front.checkHeaders },
];
