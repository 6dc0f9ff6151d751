import { fileURLToPath } from 'node:url';

/** Path of wrangler's program, to run with `process.execPath`. */
export const WRANGLER = fileURLToPath(new URL('../node_modules/wrangler/bin/wrangler.js', import.meta.url));

/** Environment variables that keep wrangler quiet and offline. */
export const WRANGLER_ENV = {
  CI: 'true', // no prompts
  CLOUDFLARE_CF_FETCH_ENABLED: 'false', // no lookup of this machine's location
  WRANGLER_HIDE_BANNER: 'true',
  WRANGLER_SEND_METRICS: 'false',
};
