// The service's Worker, with a clock that a request can set for itself and all later requests: `Test-Clock-Ahead` in milliseconds
// ahead of the real time, `Test-Clock` in milliseconds since 1970. The clock keeps running.
import type { Env } from '../../src/env.ts';
import worker from '../../src/worker.ts';

let ahead = 0;
const now = Date.now.bind(Date);
Date.now = () => now() + ahead;

export default {
  fetch(request, env, context) {
    const time = request.headers.get('Test-Clock');
    if (time !== null) ahead = Number(time) - now();
    else ahead = Number(request.headers.get('Test-Clock-Ahead') ?? ahead);
    return worker.fetch(request, env, context);
  },
} satisfies ExportedHandler<Env>;
