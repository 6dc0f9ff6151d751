import type { Demo } from './demo.ts';
import { type Login, WORKER_ROLE } from './login.ts';

/** Prints where the service is and how to use it. Scripts wait for the `API` line and read the `Key` line. */
export function printReady({
  port,
  database,
  login,
  demo,
}: {
  port: number;
  database: string;
  login: Login;
  demo: Demo | undefined;
}): void {
  const api = `http://127.0.0.1:${port}/api/v1`;
  const survey = encodeURIComponent(demo?.survey ?? 'YOUR SURVEY');
  const lines = [
    '',
    `API   ${api}`,
    ...(demo ? [`Key   ${demo.key}`] : []),
    `Data  ${database}`,
    ...(login.user === WORKER_ROLE ? [] : [`Role  ${WORKER_ROLE}, with SET ROLE in a login of ${login.user}`]),
    '',
    demo ? 'Try it:' : 'Issue a key with "npm run --silent keys -- issue --email you@example.org", then:',
    `curl -fsS -H 'Authorization: Bearer ${demo?.key ?? '<key>'}' '${api}/responses/csv?survey=${survey}' -o responses.csv`,
    '',
    'Ctrl-C stops it.',
    '',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}
