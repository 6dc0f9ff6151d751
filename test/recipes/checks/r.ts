import { checkDownload } from './downloads.ts';
import type { Check } from './expect.ts';
import { checkJoin } from './join.ts';
import { checkPages } from './pages.ts';

const PAGE_COLUMNS = ['surveyid', 'userid', 'question_ref', 'response', 'timestamp', 'translated_response'];

export const rChecks: Record<string, Check> = {
  'r/download_csv.R': checkDownload,
  'r/page_through.R': (trial) => checkPages(trial, PAGE_COLUMNS),
  'r/join_form_data.R': checkJoin,
};
