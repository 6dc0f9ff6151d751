import { questions } from './questions.ts';
import type { Random } from './random.ts';
import type { Form } from './tables.ts';

/** When the first and the second version of each form were made. */
const CREATED = ['2026-01-05T09:00:00.123456Z', '2026-02-02T09:00:00Z'];

const titles: Record<string, string> = {
  healthstart: 'Health & water: the beginning',
  healthfood: 'What we eat',
  healthlater: 'Three weeks later',
};

/** Makes both versions of each of a study's forms. */
export function makeForms(random: Random, account: string, surveyName: string): Form[] {
  return CREATED.flatMap((created, index) =>
    Object.keys(questions).map((shortcode) => ({
      id: random.uuid(),
      userid: account,
      survey_name: surveyName,
      shortcode,
      title: titles[shortcode] ?? shortcode,
      formid: random.digits(8),
      created,
      metadata: JSON.stringify({ wave: index + 1, team: 'Água', tags: ['health', 'food'] }),
      translation_conf: JSON.stringify({ self: true }),
    })),
  );
}
