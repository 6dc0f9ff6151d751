import type pg from 'pg';
import { type BenchAccount, type BenchSurvey, createSurvey } from './data.ts';
import type { Figure, Measurement } from './report.ts';
import { startService } from './service.ts';

/**
 * The same results as a person would query them, with the superuser's settings. `$1` is the list of
 * form versions.
 */
const QUERIES = {
  questions: [
    `select s.shortcode, r.question_ref, min(question_idx),
       (array_agg(question_text order by timestamp desc, r.userid desc, surveyid desc))[1],
       count(*), count(distinct r.userid), min(timestamp), max(timestamp)
     from responses r join surveys s on s.id = r.surveyid where surveyid = any($1) group by 1, 2`,
  ],
  answers: [
    `select s.shortcode, question_ref, min(question_idx) from responses r join surveys s on s.id = r.surveyid
     where surveyid = any($1) group by 1, 2 order by 1, 3`,
    `select count(*) from (select distinct userid, parent_surveyid, parent_shortcode from responses where surveyid = any($1)) record`,
    `select shortcode, question_ref, value, records, total, different from (
       select shortcode, question_ref, value, count(*) as records,
         row_number() over (partition by shortcode, question_ref order by count(*) desc, value) as rank,
         sum(count(*)) over (partition by shortcode, question_ref) as total,
         count(*) over (partition by shortcode, question_ref) as different
       from (
         select distinct on (r.userid, parent_surveyid, parent_shortcode, s.shortcode, question_ref)
           s.shortcode, question_ref, response as value
         from responses r join surveys s on s.id = r.surveyid where surveyid = any($1)
         order by r.userid, parent_surveyid, parent_shortcode, s.shortcode, question_ref, timestamp desc, surveyid desc
       ) cell group by 1, 2, 3
     ) counted where rank <= 20 order by 1, 2, rank`,
  ],
  summary: [
    `select count(*), count(distinct userid), min(timestamp), max(timestamp) from responses where surveyid = any($1)`,
    `select (timestamp at time zone 'UTC')::date, count(*), count(distinct userid)
     from responses where surveyid = any($1) group by 1 order by 1`,
    `select s.shortcode, count(*), count(distinct r.userid) from responses r join surveys s on s.id = r.surveyid
     where surveyid = any($1) group by 1 order by min(s.created)`,
  ],
};

/** Parameters of `/responses/answers`, and how much longer they may take. */
const ADDED = [
  ['by a question', 'by=form0.question_0', 1.9],
  ['by a metadata key', 'by=metadata.cluster', 1.9],
  ['numbers', 'numbers=true', 2.2],
] as const;

/** A survey whose questions are a choice, a number, and texts that all differ. */
const COLUMNS = {
  parent_surveyid: 'null',
  userid: 'lpad((n / 6)::text, 16, $$2$$)',
  response: `case n % 6 when 0 then 'choice ' || n / 6 % 5 when 1 then (n % 10007 / 100.0)::text
    else 'an answer that nobody else gave, number ' || n end`,
  metadata: `jsonb_build_object('form', 'wvsaustralia', 'startTime', 1772323417086 + n,
    'pageid', '935593143497601', 'seed', n / 6, 'cluster', 'cluster ' || n / 6 % 30)`,
};

/**
 * Measures the codebook, the answers and the summary of a survey, alternating with their
 * {@link QUERIES}, and the answers with {@link ADDED} parameters, alternating with those without.
 * The fastest runs count.
 */
export async function measureAggregates(
  databaseUrl: string,
  client: pg.Client,
  survey: BenchSurvey,
  account: BenchAccount,
  runs: number,
): Promise<{ figures: Figure[]; measurements: Measurement[] }> {
  await using service = await startService(databaseUrl);
  const figures: Figure[] = [];
  const measurements: Measurement[] = [];
  for (const [name, queries] of Object.entries(QUERIES)) {
    let [sql, http] = [Infinity, Infinity];
    for (let i = 0; i < runs; i++) {
      const start = performance.now();
      for (const query of queries) await client.query(query, [survey.forms]);
      sql = Math.min(sql, (performance.now() - start) / 1000);
      http = Math.min(
        http,
        (await service.read(`/responses/${name}?survey=${survey.name}`, account)).seconds,
      );
    }
    figures.push({ name: `/responses/${name} ÷ SQL`, value: http / sql, bound: { atMost: 1.5 } });
    measurements.push(
      { name: `/responses/${name}`, value: http, unit: 's' },
      { name: `/responses/${name} as SQL`, value: sql, unit: 's' },
    );
  }

  const { name } = await createSurvey(client, account, {
    name: 'distributions',
    rows: survey.rows,
    forms: 5,
    columns: COLUMNS,
  });
  await client.query('vacuum analyze responses');
  const paths = [
    '/responses/answers',
    ...ADDED.map(([, parameters]) => `/responses/answers?${parameters}`),
    '/responses/summary?stops=true',
  ];
  const seconds = paths.map(() => Infinity);
  for (let i = 0; i < runs; i++) {
    for (const [at, path] of paths.entries()) {
      const address = `${path}${path.includes('?') ? '&' : '?'}survey=${name}`;
      const read = await service.read(address, account);
      seconds[at] = Math.min(seconds[at] as number, read.seconds);
    }
  }
  for (const [at, [what, , atMost]] of ADDED.entries()) {
    const value = (seconds[at + 1] as number) / (seconds[0] as number);
    figures.push({ name: `/responses/answers ${what} ÷ without`, value, bound: { atMost } });
  }
  measurements.push(
    ...paths.map((path, at) => ({
      name: `${path}, distributions`,
      value: seconds[at] as number,
      unit: 's',
    })),
  );
  return { figures, measurements };
}
