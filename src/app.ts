import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { getPathNoStrict } from 'hono/utils/url';
import { authenticate } from './auth/middleware.ts';
import { Connection } from './db/client.ts';
import { databaseInSlots } from './db/database.ts';
import { RequestSlots } from './limits/slots.ts';
import { compress } from './http/compression.ts';
import type { AppEnv } from './http/context.ts';
import { BASE_PATH } from './http/endpoint.ts';
import { errorResponse } from './http/error-response.ts';
import { methodNotAllowed as methodNotAllowedError, notFound } from './http/errors.ts';
import { logRequests } from './http/request-log.ts';
import { EXPOSED_HEADERS } from './openapi/headers.ts';
import { answers } from './routes/answers.ts';
import { digests } from './routes/digests.ts';
import { formData } from './routes/form-data.ts';
import { health } from './routes/health.ts';
import { key } from './routes/key.ts';
import { openApi } from './routes/openapi.ts';
import { questions } from './routes/questions.ts';
import { responsesCsv } from './routes/responses-csv.ts';
import { responsesXlsx } from './routes/responses-xlsx.ts';
import { responsesNdjson } from './routes/responses-ndjson.ts';
import { responses } from './routes/responses.ts';
import { summary } from './routes/summary.ts';
import { surveys } from './routes/surveys.ts';

const described = [
  surveys,
  responses,
  responsesCsv,
  responsesXlsx,
  responsesNdjson,
  formData,
  questions,
  summary,
  answers,
  digests,
  key,
  health,
];
const ENDPOINTS = [...described, openApi(described)];

/**
 * The HTTP API that docs/api.md describes. A client whose base URL ends in a slash requests
 * //responses. One slash at the end is ignored.
 */
export const app = new Hono<AppEnv>({
  getPath: (request) => getPathNoStrict(request).replace(/\/{2,}/g, '/'),
});

app.use(logRequests, async function setHeaders(c, next) {
  await next();
  c.header('X-Request-Id', c.var.requestId);
  c.header('Server-Timing', c.var.stats.serverTiming);
  c.header('Timing-Allow-Origin', '*');
  c.header('X-Content-Type-Options', 'nosniff');
  c.header('Cache-Control', 'private, no-store');
  // A body shown in a browser can neither load nor run anything.
  c.header('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
});
app.use(
  cors({
    origin: '*',
    allowMethods: ['GET', 'HEAD'],
    // Without this, Hono echoes the requested headers. `*` means all headers except
    // Authorization: https://fetch.spec.whatwg.org/#cors-non-wildcard-request-header-name
    allowHeaders: ['Authorization', '*'],
    exposeHeaders: EXPOSED_HEADERS,
    maxAge: 86_400,
  }),
);
app.use(async function openDatabase(c, next) {
  c.set('connection', new Connection(c.env, c.var.stats.queries, c.var.signal));
  await next();
});
app.use(`${BASE_PATH}/*`, compress, authenticate(), async function holdSlots(c, next) {
  const { account, connection, signal, stats } = c.var;
  const slots = new RequestSlots(account.countedAs);
  c.set('slots', slots);
  c.set('db', databaseInSlots(connection, slots));
  try {
    await slots.take('request', signal);
    await next();
  } finally {
    // After an aborted transfer, a write may still read from its memory.
    const ended = stats.transfer?.then(({ end }) => slots.end(end === 'complete'));
    c.executionCtx.waitUntil(ended ?? slots.end());
  }
});
app.use(
  methodNotAllowed({
    app,
    onMethodNotAllowed(c, methods) {
      c.header('X-Error-Code', undefined); // that of the 404, which would remain
      return errorResponse(methodNotAllowedError(methods), c);
    },
  }),
);

for (const { path, respond } of ENDPOINTS) app.get(path, respond);
app.notFound((c) => errorResponse(notFound(), c));
app.onError(errorResponse);
