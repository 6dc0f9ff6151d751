import { computeDigests } from '../db/digests.ts';
import { endpoint } from '../http/endpoint.ts';
import { ifTooMany, noResponses } from '../http/errors.ts';
import { SELECTION } from '../http/parameters.ts';
import { sendTagged } from '../http/send.ts';
import { examples } from '../openapi/examples.ts';
import { jsonContent } from '../openapi/responses.ts';
import { requireResponses, surveyOf } from '../read/select-responses.ts';

/**
 * GET /responses/digests: a digest of the responses of each calendar interval, which changes when
 * they do.
 */
export const digests = endpoint({
  path: '/responses/digests',
  operationId: 'listDigests',
  summary: 'Digests of the responses',
  description:
    'Returns a digest of the responses of each calendar interval in UTC. It changes when a response of that interval is added, edited or deleted, so a client that has a copy knows what to download again. It can be computed from a CSV file and the form data: see docs/internals/digests.md.',
  query: [...SELECTION, 'interval'],
  body: jsonContent('Digests', examples.digests),
  headers: ['ETag'],

  async handle(c, query) {
    const { account, db, stats } = c.var;
    const computing = computeDigests(db, surveyOf(c, query), query, query.interval);
    const computed = await computing.catch(
      ifTooMany('intervals', 'since and until, or use a longer interval'),
    );

    if (!computed) throw noResponses(query, account.email);
    if (computed.digests.length === 0) await requireResponses(c, query);

    stats.rows = computed.digests.length;
    return sendTagged(c, JSON.stringify(computed));
  },
});
