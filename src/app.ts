import { OpenAPIHono } from '@hono/zod-openapi';
import type { Hono } from 'hono';
import { cors } from 'hono/cors';
import { getPath } from 'hono/utils/url';
import type { AppEnv } from './http/context.ts';
import { authenticate } from './auth/middleware.ts';
import { compress } from './http/compression.ts';
import { connect } from './db/client.ts';
import { addReferencePage } from './site/reference.ts';
import { errorResponse } from './http/error-response.ts';
import { methodNotAllowed, notFound } from './http/errors.ts';
import { addEndpoint } from './http/endpoint.ts';
import { keyResponses, openResponses } from './openapi/responses.ts';
import { logRequests } from './http/request-log.ts';
import { formData } from './routes/form-data.ts';
import { health } from './routes/health.ts';
import { openApi } from './routes/openapi.ts';
import { responsesCsv } from './routes/responses-csv.ts';
import { responsesNdjson } from './routes/responses-ndjson.ts';
import { responses } from './routes/responses.ts';
import { surveys } from './routes/surveys.ts';

export const BASE_PATH = '/api/v1';
/** What a body may do in a browser that shows it: nothing, but for the pages that say more. */
const POLICY = 'Content-Security-Policy';

const ENDPOINTS = [surveys, responses, responsesCsv, responsesNdjson, formData];

/** The HTTP API, as docs/api.md describes it. */
export function createApp(): Hono<AppEnv> {
  // A client whose base URL ends in a slash asks for //responses.
  const app = new OpenAPIHono<AppEnv>({ getPath: (request) => getPath(request).replace(/\/{2,}/g, '/') });

  app.use(logRequests());
  app.use(async function setHeaders(c, next) {
    await next();
    c.header('X-Request-Id', c.var.requestId);
    c.header('Server-Timing', c.var.stats.serverTiming);
    c.header('Timing-Allow-Origin', '*');
    c.header('X-Content-Type-Options', 'nosniff');
    c.header('Cache-Control', 'private, no-store');
    if (!c.res.headers.has(POLICY)) c.header(POLICY, "default-src 'none'; frame-ancestors 'none'");
  });
  app.use(
    cors({
      origin: '*',
      allowMethods: ['GET', 'HEAD'],
      // Otherwise Hono repeats what the client wrote. `*` stands for all headers but Authorization:
      // https://fetch.spec.whatwg.org/#cors-non-wildcard-request-header-name
      allowHeaders: ['Authorization', '*'],
      exposeHeaders: ['Content-Disposition', 'ETag', 'Retry-After', 'Server-Timing', 'X-Request-Id', 'X-Total-Count'],
      maxAge: 86_400,
    }),
  );
  app.use(async function openDatabase(c, next) {
    c.set('db', connect(c.env, c.var.stats));
    await next();
  });
  app.use(`${BASE_PATH}/*`, compress());
  app.use(`${BASE_PATH}/*`, authenticate());

  for (const endpoint of ENDPOINTS) addEndpoint(app, { ...endpoint, path: BASE_PATH + endpoint.path }, keyResponses);
  for (const endpoint of [health, openApi(app)]) addEndpoint(app, endpoint, openResponses);
  addReferencePage(app);
  const paths = new Set(app.routes.filter(({ method }) => method === 'GET').map(({ path }) => path));
  for (const path of paths) {
    app.all(path, () => {
      throw methodNotAllowed('GET, HEAD');
    });
  }
  app.notFound((c) => errorResponse(notFound(), c));
  app.onError(errorResponse);
  return app;
}
