import { html, listing } from './dom.ts';
import { curlFor } from '../shared/curl.ts';
import type { Params } from './api.ts';
import { code as texts } from './texts.ts';

/** A file, as the programs request it. */
interface RequestedFile {
  /** Without the query. */
  readonly url: string;
  /** The parameters of the query. */
  readonly pairs: Params;
  /** The name to save it under. */
  readonly file: string;
}

/**
 * A string in Python, and in R: both take JSON's escapes, except for `\/`, which JSON.stringify
 * does not write, and those of surrogates. Control characters and invisible ones are escaped.
 */
const quote = (text: string) =>
  JSON.stringify(text).replace(/[\p{Cc}\p{Cf}]/gu, (char) =>
    char.length > 1 ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * With the client in `clients/python`, which saves files of responses. @returns undefined for a
 * codebook
 */
const python = ({ url, pairs, file }: RequestedFile) => {
  const { origin, pathname } = new URL(url);
  if (pathname.endsWith('/questions')) return undefined;

  const { survey = [], ...parameters } = Object.groupBy(pairs, ([name]) => name);
  const valueOf = (given: Params) => {
    const values = given.map(([, value]) => quote(value));
    return values.length === 1 ? values.join() : `[${values.join(', ')}]`;
  };
  const lines = Object.entries(parameters).map(
    ([name, given = []]) => `    ${name}=${valueOf(given)},\n`,
  );

  return `from survey_export import Client

survey = Client(${quote(origin)}).survey(${valueOf(survey)})
survey.download(
    ${quote(file)},
${lines.join('')})
`;
};

const r = ({ url, pairs, file }: RequestedFile) => {
  const parameters = pairs.map(([name, value]) => `    ${name} = ${quote(value)}`).join(',\n');
  const part = quote(`${file}.part`);

  return `library(httr2)

request(${quote(url)}) |>
  req_url_query(
${parameters}
  ) |>
  req_auth_bearer_token(Sys.getenv("SURVEY_EXPORT_KEY")) |>
  req_perform(path = ${part}) |>
  invisible()
invisible(file.rename(${part}, ${quote(file)}))
`;
};

/** Programs by language. */
const PROGRAMS: Readonly<Record<string, (request: RequestedFile) => string | undefined>> = {
  curl: (request) => curlFor({ ...request, needsKey: true }),
  Python: python,
  R: r,
};

/** A file as programs. */
export function codeView() {
  const programs = html.div({});
  return {
    element: html.details(
      'code',
      html.summary({}, texts.title),
      html.p('note', texts.key),
      programs,
    ),
    show(request: RequestedFile): void {
      programs.replaceChildren();
      for (const [language, program] of Object.entries(PROGRAMS)) {
        const text = program(request);
        if (text !== undefined) programs.append(html.h2({}, language), listing(text, language));
      }
    },
  };
}
