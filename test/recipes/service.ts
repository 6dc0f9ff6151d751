import { fileURLToPath } from 'node:url';
import { withConnection } from '../../tools/connection.ts';
import { loadDemoData } from '../../tools/demo-data.ts';
import { issueKey } from '../../tools/keys/issue.ts';
import { startStack } from '../support/stack.ts';
import { runProgram } from './programs.ts';

/** The service with the demo data. */
export interface DemoService {
  readonly origin: string;
  readonly key: string;
  /** Name of the demo survey. */
  readonly survey: string;
  /** Name of its survey without responses. */
  readonly emptySurvey: string;
  /** Imports files into the demo account with `npm run db:import`. */
  importFiles(files: { forms: string; responses: string }): Promise<void>;
  /** Runs SQL in its database. */
  sql(text: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startDemoService(): Promise<DemoService> {
  await using cleanUp = new AsyncDisposableStack();
  const stack = await startStack();
  cleanUp.defer(() => stack.stop());
  const { origin, databaseUrl } = stack.address;
  const { email, surveys } = await loadDemoData(databaseUrl);
  const { key } = await issueKey(databaseUrl, { email, name: 'recipes' });
  const program = fileURLToPath(new URL('../../tools/import.ts', import.meta.url));
  const running = cleanUp.move();
  return {
    origin,
    key,
    survey: surveys[0] ?? '',
    emptySurvey: surveys[1] ?? '',
    async importFiles({ forms, responses }) {
      const args = ['--email', email, '--forms', forms, '--responses', responses];
      const env = { DATABASE_URL: databaseUrl };
      const { status, stderr } = await runProgram([process.execPath, program, ...args], { env });
      if (status !== 0) throw new Error(`the import failed: ${stderr}`);
    },
    sql: (text) => withConnection(databaseUrl, async (client) => void (await client.query(text))),
    stop: () => running.disposeAsync(),
  };
}
