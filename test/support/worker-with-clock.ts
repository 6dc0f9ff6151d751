// The service's Worker with a clock that a request may set: `Test-Clock-Ahead: <milliseconds>`, from then on.
import type { Env } from '../../src/env.ts';
import worker from '../../src/worker.ts';

let ahead = 0;
const now = Date.now.bind(Date);
Date.now = () => now() + ahead;

export default {
  fetch(request, env, context) {
    ahead = Number(request.headers.get('Test-Clock-Ahead') ?? ahead);
    return worker.fetch(request, env, context);
  },
} satisfies ExportedHandler<Env>;
