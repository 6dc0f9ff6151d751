import type { Context, Hono } from 'hono';
import type { AppEnv } from '../http/context.ts';
import { notFound } from '../http/errors.ts';
import { sendBody } from '../http/send.ts';
import { FILES, HOME, REFERENCE } from './files.ts';

/** The pages connect only to this service, run only its own scripts, and create no HTML from text. */
const POLICY = [
  "default-src 'none'",
  ...['script-src', 'style-src', 'img-src', 'connect-src'].map((directive) => `${directive} 'self'`),
  ...['base-uri', 'form-action', 'frame-ancestors'].map((directive) => `${directive} 'none'`),
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** @param type the extension of the file's name */
const send = (c: Context<AppEnv>, text: string, type: string) =>
  sendBody(c, text, {
    'Content-Type': TYPES[type] as string,
    'Content-Security-Policy': POLICY,
    'Referrer-Policy': 'no-referrer',
  });

/**
 * Adds GET /, the page for people, unless the variable PAGE is `off`; and GET /docs, the API reference, generated from
 * /openapi.json, with a form to try each endpoint. Neither needs a key.
 */
export function addPages(app: Hono<AppEnv>): void {
  app.get('/', (c) => {
    if (c.env.PAGE === 'off') throw notFound();
    return send(c, HOME, 'html');
  });
  for (const path of ['/docs', '/docs/']) app.get(path, (c) => send(c, REFERENCE, 'html'));
  for (const [path, text] of Object.entries(FILES)) {
    const type = path.slice(path.lastIndexOf('.') + 1);
    app.get(`/pages${path}`, (c) => send(c, text, type));
  }
}
