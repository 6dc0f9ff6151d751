import { fileURLToPath } from 'node:url';

/** Path of the recipes' folder. */
export const RECIPES = fileURLToPath(new URL('../../recipes/', import.meta.url));

/** What recipes do: the rows of the page's table. */
export const subjects = {
  list: 'list the surveys',
  download: 'download a survey',
  participants: 'get one row per participant, translated, without testers',
  questions: 'list the questions, count responses per day',
  page: 'read page by page',
  part: 'download a part, or new responses',
  resume: 'resume a download',
  join: 'join with the form versions',
  query: 'open or query a file',
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
    'participants.sh': 'participants',
    'codebook.sh': 'questions',
    'resume-download.sh': 'resume',
  }),
  chapter('python', 'python', {
    'download_csv.py': 'download',
    'participants.py': 'participants',
    'page_through.py': 'page',
    'pull_new.py': 'part',
    'resume_download.py': 'resume',
    'join_form_data.py': 'join',
    'preprocess.py': 'query',
  }),
  chapter('r', 'r', {
    'download_csv.R': 'download',
    'participants.R': 'participants',
    'read_data_table.R': 'join',
  }),
  chapter('duckdb', 'duckdb', { 'questions.sql': 'query', 'read_ndjson.sql': 'query' }),
  {
    folder: 'excel',
    recipes: [
      { path: 'excel/download-for-excel.sh', subject: 'download', language: 'curl' },
      { path: 'excel/power-query.md', subject: 'part' },
    ],
  },
];

export const recipeFiles: readonly RecipeFile[] = chapters.flatMap(({ recipes }) => recipes);

function chapter(folder: string, language: Language, files: Record<string, Subject>): Chapter {
  const recipes = Object.entries(files).map(([name, subject]) => ({ path: `${folder}/${name}`, subject, language }));
  return { folder, recipes };
}
