import { fileURLToPath } from 'node:url';

/** Path of the recipes' folder. */
export const RECIPES = fileURLToPath(new URL('../../recipes/', import.meta.url));

/** What recipes do: the rows of the page's table. */
export const subjects = {
  list: 'list the surveys',
  download: 'download a survey as CSV',
  page: 'read page by page',
  part: 'download a part, or new responses',
  resume: 'resume a download',
  join: 'join with the form versions',
  busy: 'wait when the service is busy',
  query: 'query or open a file',
} as const;

export type Subject = keyof typeof subjects;
export type Language = 'curl' | 'python' | 'r' | 'duckdb';

/** A file of `recipes/`. */
export interface RecipeFile {
  readonly path: string;
  readonly subject: Subject;
  /** What runs it; undefined for manual steps. */
  readonly language?: Language;
}

/** A chapter of the page: a folder with `about.md` and recipes. */
export interface Chapter {
  readonly folder: string;
  readonly recipes: readonly RecipeFile[];
}

/** All recipes, in the order of the page. */
export const chapters: readonly Chapter[] = [
  chapter('curl', 'curl', {
    'list-surveys.sh': 'list',
    'download-csv.sh': 'download',
    'download-month.sh': 'part',
    'page-through.sh': 'page',
    'resume-download.sh': 'resume',
  }),
  chapter('python', 'python', {
    'download_csv.py': 'download',
    'page_through.py': 'page',
    'pull_new.py': 'part',
    'resume_download.py': 'resume',
    'join_form_data.py': 'join',
    'wait_when_busy.py': 'busy',
  }),
  chapter('r', 'r', { 'download_csv.R': 'download', 'page_through.R': 'page', 'join_form_data.R': 'join' }),
  chapter('duckdb', 'duckdb', { 'questions.sql': 'query', 'read_ndjson.sql': 'query', 'join_form_data.sql': 'join' }),
  {
    folder: 'excel',
    recipes: [
      { path: 'excel/download-for-excel.sh', subject: 'download', language: 'curl' },
      { path: 'excel/open-the-file.md', subject: 'query' },
      { path: 'excel/power-query.md', subject: 'part' },
    ],
  },
];

export const recipeFiles: readonly RecipeFile[] = chapters.flatMap(({ recipes }) => recipes);

function chapter(folder: string, language: Language, files: Record<string, Subject>): Chapter {
  const recipes = Object.entries(files).map(([name, subject]) => ({ path: `${folder}/${name}`, subject, language }));
  return { folder, recipes };
}
