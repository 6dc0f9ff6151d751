import { WORKER_ROLE } from '../worker-role.ts';
import type { Demo } from './demo.ts';
import type { Login } from './login.ts';

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
  const curl = `curl -fsS -H 'Authorization: Bearer ${demo?.key ?? '<key>'}'`;
  const lines = [
    '',
    `Page  http://127.0.0.1:${port}/`,
    `API   ${api}`,
    `Docs  http://127.0.0.1:${port}/docs`,
    ...(demo ? [`Key   ${demo.key}`] : []),
    `Data  ${database}`,
    ...(login.user === WORKER_ROLE ? [] : [`Role  ${WORKER_ROLE}, with SET ROLE in a login of ${login.user}`]),
    '',
    ...(demo
      ? ['Try it:', `${curl} '${api}/responses/csv?survey=${encodeURIComponent(demo.survey)}' -o responses.csv`]
      : [
          'Issue a key, with the same DATABASE_URL or DATA_DIR, then list the surveys of its account:',
          'npm run --silent keys -- issue --email you@example.org --create-account',
          `${curl} '${api}/surveys'`,
        ]),
    '',
    'Ctrl-C stops it.',
    '',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}
