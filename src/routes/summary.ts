import { isTimeZone, summarize } from '../db/summary.ts';
import { endpoint } from '../http/endpoint.ts';
import { badParameter, ifTooMany } from '../http/errors.ts';
import { LEFT_OUT, SELECTION, TIME_ZONE } from '../http/parameters.ts';
import { sendBody } from '../http/send.ts';
import { examples } from '../openapi/examples.ts';
import { jsonContent } from '../openapi/responses.ts';
import { requireResponses, selectResponses } from '../read/select-responses.ts';

/** GET /responses/summary: the numbers of responses and participants, in total and per day. */
export const summary = endpoint({
  path: '/responses/summary',
  operationId: 'summarizeResponses',
  summary: 'The number of responses and participants',
  description:
    'Counts a survey’s responses and participants, or those that pass the filters, in total and per day. With `repeats`, `require_metadata` and `require_question`, counts those that a wide file with the same parameters has.',
  query: [...SELECTION, 'timezone', ...LEFT_OUT, 'stops'],
  body: jsonContent('Summary', examples.summary),

  async handle(c, query) {
    const { db, stats } = c.var;
    if (query.timezone !== 'UTC' && !(await isTimeZone(db, query.timezone)))
      throw badParameter('timezone', TIME_ZONE);

    const selection = await selectResponses(c, query);
    const counting = summarize(db, selection, query.timezone, query);
    const counts = await counting.catch(ifTooMany('days', 'since and until'));
    if (counts.responses === 0) await requireResponses(c, query);

    stats.rows = counts.days.length;
    return sendBody(c, JSON.stringify(counts));
  },
});
