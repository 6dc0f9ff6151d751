import { html, listing } from './dom.ts';
import { curlFor } from '../shared/curl.ts';
import type { Params } from './api.ts';
import { code as texts } from './texts.ts';

/** A file, as the programs request it. */
interface File {
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
const python = ({ url, pairs, file }: File) => {
  const { origin, pathname } = new URL(url);
  if (pathname.endsWith('/questions')) return undefined;
  const valuesOf = (name: string) =>
    pairs.filter(([other]) => other === name).map(([, value]) => quote(value));
  const parameters = [...new Set(pairs.map(([name]) => name))]
    .filter((name) => name !== 'survey')
    .map((name) => {
      const values = valuesOf(name);
      return `    ${name}=${values.length === 1 ? values.join() : `[${values.join(', ')}]`},\n`;
    })
    .join('');
  return `from survey_export import Client

survey = Client(${quote(origin)}).survey(${valuesOf('survey').join()})
survey.download(
    ${quote(file)},
${parameters})
`;
};

const r = ({ url, pairs, file }: File) => `library(httr2)

request(${quote(url)}) |>
  req_url_query(
${pairs.map(([name, value]) => `    ${name} = ${quote(value)}`).join(',\n')}
  ) |>
  req_auth_bearer_token(Sys.getenv("SURVEY_EXPORT_KEY")) |>
  req_perform(path = ${quote(`${file}.part`)}) |>
  invisible()
invisible(file.rename(${quote(`${file}.part`)}, ${quote(file)}))
`;

/** Programs by language. */
const PROGRAMS: Readonly<Record<string, (request: File) => string | undefined>> = {
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
    show(request: File): void {
      programs.replaceChildren(
        ...Object.entries(PROGRAMS).flatMap(([language, program]) => {
          const text = program(request);
          return text === undefined ? [] : [html.h2({}, language), listing(text, language)];
        }),
      );
    },
  };
}
