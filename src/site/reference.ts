import type { Hono } from 'hono';
import { sendBody } from '../http/send.ts';
import type { AppEnv } from '../http/context.ts';
import { FILES } from './files.ts';

/** The page loads and asks nothing but this service, runs no script but its own files, and makes no HTML out of text. */
const POLICY = [
  "default-src 'none'",
  ...['script-src', 'style-src', 'img-src', 'connect-src'].map((directive) => `${directive} 'self'`),
  ...['base-uri', 'form-action', 'frame-ancestors'].map((directive) => `${directive} 'none'`),
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** GET /docs: the reference, on which requests can be tried out. It reads /openapi.json; no key. */
export function addReferencePage(app: Hono<AppEnv>): void {
  for (const [path, { type, text }] of Object.entries(FILES)) {
    app.get(path, (c) =>
      sendBody(c, text, {
        'Content-Type': type,
        'Content-Security-Policy': POLICY,
        'Referrer-Policy': 'no-referrer',
      }),
    );
  }
}
