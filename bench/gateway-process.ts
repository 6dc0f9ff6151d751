// Runs the SQL-over-HTTP endpoint in a separate process, so that it does not share a thread with the measuring client.
// Takes its options as a JSON argument and sends its URL to the parent process.
import { setTimeout as sleep } from 'node:timers/promises';
import { startSqlGateway } from '../tools/sql-gateway.ts';

const { database, password, latencyMs } = JSON.parse(process.argv[2] ?? '{}') as {
  database: string;
  password: string;
  latencyMs: number;
};
const gateway = await startSqlGateway({
  database,
  password,
  ...(latencyMs > 0 && { beforeRequest: () => sleep(latencyMs) }),
});
process.on('disconnect', () => void gateway.close().then(() => process.exit()));
process.send?.(gateway.url);
