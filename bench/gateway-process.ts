// Runs the SQL-over-HTTP endpoint in a separate process, so that it does not share a thread with the measuring client.
// Takes its options as a JSON argument and sends its URL to the parent process, which can send the milliseconds by which to delay
// every later request.
import { setTimeout as sleep } from 'node:timers/promises';
import { startSqlGateway } from '../tools/sql-gateway.ts';

const { database, password } = JSON.parse(process.argv[2] ?? '{}') as { database: string; password: string };
let latencyMs = 0;
process.on('message', (ms: number) => (latencyMs = ms));
const gateway = await startSqlGateway({
  database,
  password,
  beforeRequest: async () => latencyMs > 0 && sleep(latencyMs),
});
process.on('disconnect', () => void gateway.close().then(() => process.exit()));
process.send?.(gateway.url);
