import { createApp } from './app.ts';
import type { Env } from './env.ts';

const app = createApp();

export default {
  fetch: (request, env, context) => app.fetch(request, env, context),
} satisfies ExportedHandler<Env>;
