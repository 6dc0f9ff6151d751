import { app } from './app.ts';
import type { Env } from './env.ts';

export default {
  fetch(request, env, context) {
    // wrangler.toml sends other files straight to clients.
    const isPage = new URL(request.url).pathname === '/' && env.PAGE !== 'off';
    return isPage ? env.ASSETS.fetch(request) : app.fetch(request, env, context);
  },
} satisfies ExportedHandler<Env>;
