import { type Hash, createHash } from 'node:crypto';
import { API, type Client, type Reply, type RequestOptions, jsonOf, quoted } from './client.ts';
import { readCodebook } from './codebook.ts';
import { csvRecords } from './csv-records.ts';
import { Digest, hashOf } from './digest.ts';
import { Mismatch, NotTested, expectEqual, expectThat } from './expect.ts';
import { CSV_COLUMNS, type Row, addRow, addTexts, sortable, tokenOf } from './responses.ts';

/*
 * The names are those of docs/api.md, not the service's own constants: a service that changes one does not do what its clients
 * rely on.
 */

const FORM_DATA_COLUMNS = ['surveyid', 'shortcode', 'survey_name', 'version', 'survey_created', 'metadata'];
const SURVEY_FIELDS = 'id,survey_name,shortcode,title,formid,created,metadata,translation_conf,off_time,timeouts'.split(
  ',',
);

/** Surveys that are counted to choose one. */
const MAX_COUNTED = 20;
/** The most responses of a survey that is chosen: all of them are read several times. */
const MAX_CHOSEN = 100_000;
/** Up to so many responses, pages are smaller, so that there are several. */
const FEW_RESPONSES = 20_000;

type Query = NonNullable<RequestOptions['query']>;
/** A file or a sequence of pages that was read to its end. */
interface Contents {
  readonly rows: number;
  /** Of the texts of all rows: equal for all formats. */
  readonly digest: string;
}

/** What a check found out about the service, and others build on. */
export interface Fact<T> {
  /** For the check that reports it. @throws Mismatch */
  check(): Promise<T>;
  /** For the others. @throws NotTested if the check failed, which reports it */
  known(): Promise<T>;
}

/** The service that is tested, and what is known about it. */
export class Subject {
  readonly client: Client;
  /** The name of the survey to test with; undefined to choose one. */
  readonly surveyName: string | undefined;
  /** Responses that are stored from now on do not disturb. */
  readonly until = new Date().toISOString();
  readonly #hasKey: boolean;
  readonly #progress: (text: string) => void;

  /** @param progress is called often while a file is read */
  constructor(
    client: Client,
    {
      hasKey,
      surveyName,
      progress,
    }: { hasKey: boolean; surveyName: string | undefined; progress: (text: string) => void },
  ) {
    this.client = client;
    this.surveyName = surveyName;
    this.#hasKey = hasKey;
    this.#progress = progress;
  }

  /** The list of surveys. */
  readonly surveys = this.#fact(async () => {
    const reply = await this.client.get(`${API}/surveys`);
    expectThat(
      reply.status !== 401,
      `${reply.request}: the service refuses the key: is it complete, and of this service?`,
    );
    expectEqual(`${reply.request}: status`, reply.status, 200);
    const forms = jsonOf(reply);
    expectThat(Array.isArray(forms), `${reply.request}: not a list`);
    for (const form of forms as Record<string, unknown>[])
      expectEqual(`${reply.request}: fields`, Object.keys(form), SURVEY_FIELDS);
    return (forms as { survey_name: string }[]).map(({ survey_name }) => survey_name);
  });

  /** The survey to test with, and the number of its responses before {@link until}. */
  readonly survey = this.#fact(async () => {
    const names = [...new Set(await this.surveys.known())];
    const { surveyName } = this;
    if (surveyName !== undefined && !names.includes(surveyName)) {
      throw new Mismatch(
        `--survey: the account has no survey ${quoted(surveyName)}, only ${names.map(quoted).join(', ')}`,
      );
    }
    const counted = [];
    for (const name of surveyName === undefined ? names.slice(0, MAX_COUNTED) : [surveyName])
      counted.push({ name, total: await this.count(name) });
    const usable = counted.filter(({ total }) => total > 0).toSorted((a, b) => a.total - b.total);
    const chosen = usable.findLast(({ total }) => total <= MAX_CHOSEN) ?? usable[0];
    if (!chosen) throw new NotTested('no survey of the account has responses');
    return chosen;
  });

  /** The whole survey as CSV. */
  readonly csv = this.#fact(async () => {
    const { total } = await this.survey.known();
    const reply = await this.file('csv', { count: 'true' }, { 'Accept-Encoding': 'identity' });
    expectEqual(`${reply.request}: Content-Type`, reply.header('Content-Type'), 'text/csv; charset=utf-8');
    expectThat(
      /^attachment; filename="responses_[\w-]+\.csv"$/.test(reply.header('Content-Disposition') ?? ''),
      `${reply.request}: Content-Disposition is ${quoted(reply.header('Content-Disposition') ?? 'missing')}`,
    );
    const bytes = createHash('sha256');
    const all = createHash('sha256');
    const rest = createHash('sha256');
    const half = Math.floor(total / 2);
    let rows = 0;
    let size = 0;
    let token = '';
    const counting = (length: number) => this.#progress(`${rows} responses, ${megabytes((size += length))}`);
    const records = csvRecords(hashing(reply.body(), bytes, counting));
    expectEqual(`${reply.request}: columns`, (await records.next()).value, CSV_COLUMNS);
    for await (const cells of records) {
      addTexts(all, cells);
      if (rows >= half) addTexts(rest, cells);
      rows++;
      if (rows === half) token = tokenOf(cells);
    }
    await this.expectTotal(reply.request, rows);
    await this.expectTotal(`${reply.request}, by its X-Total-Count`, Number(reply.header('X-Total-Count')));
    return {
      rows,
      size,
      digest: all.digest('hex'),
      sha256: bytes.digest('hex'),
      rest: { token, rows: rows - half, digest: rest.digest('hex') },
    };
  });

  /** The whole survey, page by page. */
  readonly pages = this.#fact(async (): Promise<Contents & { pages: number; pageSize: number }> => {
    const { name, total } = await this.survey.known();
    const pageSize = total <= FEW_RESPONSES ? 1000 : 10_000;
    const digest = createHash('sha256');
    let [rows, pages, after, last] = [0, 0, undefined as string | undefined, ''];
    for (let length = pageSize; length === pageSize; pages++) {
      const page = await this.page({ survey: name, pageSize, after, until: this.until });
      expectThat(page.length <= pageSize, `a page of ${page.length} responses where ${pageSize} were requested`);
      for (const row of page) {
        expectThat(sortable(row.timestamp) >= last, `the response at ${row.timestamp} comes after a later one`);
        last = sortable(row.timestamp);
        addRow(digest, row);
      }
      ({ length } = page);
      rows += length;
      after = page.at(-1)?.token ?? after;
      this.#progress(`${rows} responses, ${pages + 1} pages`);
    }
    const beyond = await this.page({ survey: name, pageSize, after, until: this.until });
    expectEqual('the page after the last response', beyond, []);
    await this.expectTotal('all pages', rows);
    return { rows, pages, pageSize, digest: digest.digest('hex') };
  });

  /** The survey's form versions: their number, the shortcode of each by its id, and the digest of the file. */
  readonly formData = this.#fact(async () => {
    const { name: survey } = await this.survey.known();
    const forms = (await this.surveys.known()).filter((name) => name === survey).length;
    const reply = await this.client.send(`${API}/responses/form-data`, { query: { survey } });
    expectEqual(`${reply.request}: status`, reply.status, 200);
    const records = csvRecords(reply.body());
    expectEqual(`${reply.request}: columns`, (await records.next()).value, FORM_DATA_COLUMNS);
    const digest = new Digest();
    const shortcodes = new Map<string, string | null>();
    for await (const cells of records) {
      const [id, shortcode = null] = cells;
      shortcodes.set(id ?? '', shortcode);
      digest.add(hashOf(cells));
    }
    expectEqual(`${reply.request}: records`, digest.records, forms);
    return { forms, shortcodes, digest: String(digest) };
  });

  /** The survey's questions. */
  readonly codebook = this.#fact(() => readCodebook(this));

  /** @returns the responses of a page */
  async page(query: Query): Promise<Row[]> {
    const body = (await this.json('/responses', query)) as { responses: Row[] };
    expectThat(Array.isArray(body.responses) && Object.keys(body).length === 1, `GET ${API}/responses: not a page`);
    return body.responses;
  }

  /** The JSON at a path under {@link API}. @throws Mismatch unless the status is 200 */
  async json(path: string, query: Query): Promise<unknown> {
    const reply = await this.client.get(API + path, { query });
    expectEqual(`${reply.request}: status`, reply.status, 200);
    return jsonOf(reply);
  }

  /** Requests a file of the survey's responses. @throws Mismatch unless the status is 200 */
  async file(format: string, query: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<Reply> {
    const { name: survey } = await this.survey.known();
    const reply = await this.client.send(`${API}/responses/${format}`, {
      query: { survey, until: this.until, ...query },
      headers,
    });
    expectEqual(`${reply.request}: status`, reply.status, 200);
    return reply;
  }

  /** The number of a survey's responses before {@link until}, from a request with HEAD. */
  async count(survey: string): Promise<number> {
    const query = { survey, until: this.until, count: 'true' };
    const reply = await this.client.get(`${API}/responses/csv`, { method: 'HEAD', query });
    if (reply.status === 500) return 0; // no responses: the check of errors tests this status
    expectEqual(`${reply.request}: status`, reply.status, 200);
    const total = reply.header('X-Total-Count') ?? 'missing';
    expectThat(/^\d+$/.test(total), `${reply.request}: X-Total-Count is ${quoted(total)}`);
    return Number(total);
  }

  /** @throws Mismatch unless a number of rows is the survey's count, or one between its counts then and now */
  async expectTotal(what: string, rows: number): Promise<void> {
    const { name, total } = await this.survey.known();
    if (rows === total) return;
    const now = await this.count(name);
    const isBetween = Math.min(now, total) <= rows && rows <= Math.max(now, total);
    const changed = now === total ? '' : ` (${now} now: the survey is being changed)`;
    expectThat(isBetween, `${what}: ${rows} responses, X-Total-Count is ${total}${changed}`);
  }

  /** Reports progress. */
  progress(text: string): void {
    this.#progress(text);
  }

  #fact<T>(find: () => Promise<T>): Fact<T> {
    let found: Promise<T> | undefined;
    const check = () => {
      if (!this.#hasKey) return Promise.reject(new NotTested('needs --key'));
      return (found ??= find());
    };
    return {
      check,
      known: () =>
        check().catch((error: unknown) => {
          throw error instanceof NotTested ? error : new NotTested('because of a failure above');
        }),
    };
  }
}

/** Passes chunks on, hashed. @param counted is called with the length of each */
export async function* hashing(
  chunks: AsyncIterable<Buffer>,
  hash: Hash,
  counted: (length: number) => void = () => {},
): AsyncGenerator<Buffer, void, void> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    counted(chunk.length);
    yield chunk;
  }
}

export const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
