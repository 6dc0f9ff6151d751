import { errorBody } from '../../support/api.ts';
import { codebookJson, summaryJson } from './aggregates.ts';
import { compareLists, formDataCsv, longCsv, responseJson, surveyJson, wideCsv } from './files.ts';
import type { Request } from './requests.ts';
import type { Response } from './world.ts';

/** The expected properties of a response. */
export interface Expected {
  readonly status: number;
  readonly body: string;
  /** `X-Total-Count`. */
  readonly total: string | null;
  /** Whether it has an `ETag`. */
  readonly tagged: boolean;
}

/** The expected response to a request, computed without SQL from the data of its account only. */
export function expectedResponse(request: Request): Expected {
  const { account, key, path, survey, after, count, wide, bom, safe } = request;
  if (!key.valid) return refusal(401, 'Invalid Token.');
  if (path === '/surveys') {
    const newestFirst = account.forms.toSorted((a, b) => compareLists([-a.created, a.id], [-b.created, b.id]));
    return success(`[${newestFirst.map((form) => surveyJson(account, form)).join(',')}]`, { tagged: true });
  }

  if (survey === '') return refusal(400, 'No user, no responses!');
  const isWide = path === '/responses/csv' && wide;
  if (isWide && after) {
    const why = 'a wide file is not ordered by time and cannot be resumed';
    return refusal(400, `after cannot be used with layout=wide: ${why}.`);
  }
  if (isWide && count) {
    const why = 'the number of records is known only at the end';
    return refusal(400, `count cannot be used with layout=wide: ${why}.`);
  }
  const forms = account.forms.filter((form) => form.survey === survey);
  const all = account.responses.filter((response) => response.form.survey === survey);
  if (all.length === 0) {
    return refusal(500, `No responses were found for survey: ${survey} for user: ${account.email}`);
  }

  if (path === '/responses/form-data') return success(formDataCsv(forms));
  if (path === '/responses/questions') return success(codebookJson(selected(all, { filters: request.filters }), forms));
  if (path === '/responses/summary') return success(summaryJson(selected(all, { filters: request.filters })));
  const rows = selected(all, request);
  const total = count ? String(rows.length) : null;
  const start = bom && !after ? '\uFEFF' : '';
  if (isWide) return success(start + wideCsv(rows, forms, safe));
  if (path === '/responses/csv') return success(start + longCsv(rows, !after, safe), { total });
  if (path === '/responses/ndjson') return success(rows.map((row) => `${responseJson(row)}\n`).join(''), { total });
  const page = rows.slice(0, request.pageSize ?? 25);
  return success(`{"responses":[${page.map(responseJson).join(',')}]}`, { total, tagged: !count });
}

function selected(
  responses: readonly Response[],
  { filters, after }: Pick<Request, 'filters'> & Partial<Request>,
): Response[] {
  const { since, until, userid, shortcode, question_ref } = filters;
  return responses
    .filter((row) => !since || row.at >= since.at)
    .filter((row) => !until || row.at < until.at)
    .filter((row) => !userid || userid.includes(row.userid))
    .filter((row) => !shortcode || shortcode.includes(row.form.shortcode))
    .filter((row) => !question_ref || question_ref.includes(row.question))
    .filter((row) => !after || isAfter(row, after))
    .toSorted(byCursor);
}

const byCursor = (a: Response, b: Response) =>
  compareLists([...orderKeyOf(a), a.form.id], [...orderKeyOf(b), b.form.id]);
const orderKeyOf = ({ at, userid, question }: Response) => [at, userid, question];

/** A token of the older format resumes after all responses that tie in its three values. */
const isAfter = (row: Response, { response, older }: { response: Response; older: boolean }) =>
  older ? compareLists(orderKeyOf(row), orderKeyOf(response)) > 0 : byCursor(row, response) > 0;

const success = (body: string, { total = null, tagged = false }: Partial<Expected> = {}): Expected => ({
  status: 200,
  body,
  total,
  tagged,
});
const refusal = (status: number, message: string): Expected => ({
  ...success(errorBody(message)),
  status,
});
