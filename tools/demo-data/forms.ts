import { questions } from './questions.ts';
import type { Random } from './random.ts';
import type { FormVersion } from './tables.ts';

/** When the first and the second version of the nth form were created. */
const CREATED = [(n: number) => `2026-01-05T09:0${n}:00.123456Z`, (n: number) => `2026-02-02T09:0${n}:00Z`];

const titles: Record<string, string> = {
  healthstart: 'Health & water: the beginning',
  healthfood: 'What we eat',
  healthlater: 'Three weeks later',
};

/** Makes both versions of each of a study's forms. */
export function makeForms(random: Random, account: string, surveyName: string): FormVersion[] {
  return CREATED.flatMap((created, index) =>
    Object.keys(questions).map((shortcode, n) => ({
      id: random.uuid(),
      userid: account,
      survey_name: surveyName,
      shortcode,
      title: titles[shortcode] ?? shortcode,
      formid: random.digits(8),
      created: created(n),
      metadata: JSON.stringify({ wave: index + 1, team: 'Água', tags: ['health', 'food'] }),
      translation_conf: JSON.stringify({ self: true }),
    })),
  );
}
