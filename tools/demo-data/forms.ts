import { questions } from './questions.ts';
import type { Random } from './random.ts';

/** When the first and the second version of the nth form were created. */
const CREATED = [(n: number) => `2026-01-05T09:0${n}:00.123456Z`, (n: number) => `2026-02-02T09:0${n}:00Z`];

const titles: Record<string, string> = {
  healthstart: 'Health & water: the beginning',
  healthfood: 'What we eat',
  healthlater: 'Three weeks later',
};

export type FormVersion = ReturnType<typeof makeForms>[number];

/** Makes both versions of each of a study's forms, as rows of the table. */
export function makeForms(random: Random, account: string, surveyName: string) {
  return CREATED.flatMap((created, index) =>
    Object.keys(questions).map((shortcode, n) => ({
      id: random.uuid(),
      userid: account,
      survey_name: surveyName,
      shortcode,
      title: titles[shortcode] ?? shortcode,
      formid: random.digits(8),
      created: created(n),
      metadata: { wave: index + 1, team: 'Água', tags: ['health', 'food'] },
      translation_conf: { self: true },
    })),
  );
}
