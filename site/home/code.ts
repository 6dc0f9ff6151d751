import { copyable, copyButton, html } from '../shared/dom.ts';
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
 * A string in Python, and in R: both take JSON's escapes, except for `\/`, which JSON.stringify does not write, and those of
 * surrogates. Control characters and invisible ones are escaped.
 */
const quote = (text: string) =>
  JSON.stringify(text).replace(/[\p{Cc}\p{Cf}]/gu, (char) =>
    char.length > 1 ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** With the client in `clients/python`, which saves files of responses. */
const pythonClient = ({ url, pairs, file }: File) => {
  const { origin, pathname } = new URL(url);
  if (pathname.endsWith('/questions')) return pythonRequests({ url, pairs, file });
  const valuesOf = (name: string) => pairs.filter(([other]) => other === name).map(([, value]) => quote(value));
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

const pythonRequests = ({ url, pairs, file }: File) => `import os
import requests

with requests.get(
    ${quote(url)},
    params=[
${pairs.map(([name, value]) => `        (${quote(name)}, ${quote(value)}),\n`).join('')}    ],
    headers={"Authorization": f"Bearer {os.environ['SURVEY_EXPORT_KEY']}"},
    stream=True,
    timeout=60,
) as response:
    response.raise_for_status()
    with open(${quote(`${file}.part`)}, "wb") as file:
        for piece in response.iter_content(65536):
            file.write(piece)
os.replace(${quote(`${file}.part`)}, ${quote(file)})
`;

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
const PROGRAMS: Readonly<Record<string, (request: File) => string>> = {
  curl: (request) => curlFor({ ...request, needsKey: true }),
  Python: pythonClient,
  'Python with requests': pythonRequests,
  R: r,
};

/** The selection as programs, and as a link. */
export function codeView() {
  const views = Object.entries(PROGRAMS).map(([language, program]) => ({
    language,
    program,
    listing: copyable(language),
  }));
  return {
    element: html.details(
      'code',
      html.summary({}, html.h2({ id: 'code' }, texts.title)),
      html.p('note', texts.key),
      ...views.flatMap((view) => [html.h3({}, view.language), view.listing.element]),
      html.h3({}, texts.link),
      html.p(
        {},
        texts.linkNote,
        ' ',
        copyButton(() => location.href, texts.link),
      ),
    ),
    show: (request: File) => views.forEach(({ program, listing }) => listing.show(program(request))),
  };
}
