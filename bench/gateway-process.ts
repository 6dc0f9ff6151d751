// Runs the SQL-over-HTTP endpoint in a separate process, so that it does not share a thread with
// the measuring client. Takes a JSON argument and sends the Worker's variables to the parent
// process, which can send the milliseconds by which to delay every later request.
import { setTimeout as sleep } from 'node:timers/promises';
import { startGateway } from '../gateway/server.ts';
import { WORKER_LOGIN } from '../test/support/database.ts';

const { database, token } = JSON.parse(process.argv[2] ?? '{}') as {
  database: string;
  token: string;
};
const gateway = await startGateway({ database, token });
const { server } = gateway;
const [respond] = server.listeners('request') as ((...exchange: unknown[]) => void)[];
let latencyMs = 0;
server.removeAllListeners('request').on('request', async (request, response) => {
  if (latencyMs > 0) await sleep(latencyMs);
  // the gateway would not notice that this client has left
  if (!response.destroyed) respond?.(request, response);
});
process.on('message', (ms: number) => (latencyMs = ms));
process.on('disconnect', () => void gateway.close({ now: true }).then(() => process.exit()));
process.send?.({ SQL_ENDPOINT: gateway.url, DATABASE_URL: gateway.connectionString(WORKER_LOGIN) });
