import type { Hono } from 'hono';
import { sendBody } from '../http/send.ts';
import type { AppEnv } from '../http/context.ts';
import { FILES } from './files.ts';

/** The page connects only to this service, runs only its own scripts, and creates no HTML from text. */
const POLICY = [
  "default-src 'none'",
  ...['script-src', 'style-src', 'img-src', 'connect-src'].map((directive) => `${directive} 'self'`),
  ...['base-uri', 'form-action', 'frame-ancestors'].map((directive) => `${directive} 'none'`),
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** GET /docs: the API reference, generated from /openapi.json, with a form to try each endpoint. Needs no key. */
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
