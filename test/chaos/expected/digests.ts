import { digestOf, startOf } from '../../support/digests.ts';
import type { Data, Response } from '../model/account.ts';
import { timestampOf } from '../model/moment.ts';
import { jsonOf, quoted } from './json.ts';
import { type Parameters, formsOf, select } from './select.ts';
import { type Cells, formDataTable } from './tables.ts';

export function digestsJson(parameters: Parameters, data: Data): string {
  const { interval = 'day' } = parameters;
  const forms = formsOf(parameters, data);
  const shortcodes = new Map(forms.map(({ id, shortcode }) => [id, shortcode]));
  const recordOf = (row: Response): Cells => [
    row.parentId,
    row.parentShortcode,
    shortcodes.get(row.form) ?? null,
    row.form,
    row.flowid,
    row.userid,
    row.question,
    String(row.index),
    row.questionText,
    row.text,
    timestampOf(row.at),
    row.metadata.json,
    row.pageid,
    row.translated,
  ];
  const rows = select(parameters, forms, data.responses); // ascending
  const digests = [...Map.groupBy(rows, ({ at }) => startOf(timestampOf(at), interval))].map(([start, group]) =>
    jsonOf([
      ['start', quoted(start)],
      ['responses', String(group.length)],
      ['digest', quoted(digestOf(group.map(recordOf)))],
    ]),
  );
  return jsonOf([
    ['version', '1'],
    ['interval', quoted(interval)],
    ['forms', quoted(digestOf(formDataTable(forms).slice(1)))],
    ['digests', `[${digests.join(',')}]`],
  ]);
}
