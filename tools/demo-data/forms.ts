import { questions } from './questions.ts';
import type { Random } from './random.ts';
import type { Form } from './tables.ts';

/** When the first and the second version of a form were made, a minute behind those of the form before it. */
const CREATED = [
  (place: number) => `2026-01-05T09:0${place}:00.123456Z`,
  (place: number) => `2026-02-02T09:0${place}:00Z`,
];

const titles: Record<string, string> = {
  healthstart: 'Health & water: the beginning',
  healthfood: 'What we eat',
  healthlater: 'Three weeks later',
};

/** Makes both versions of each of a study's forms. */
export function makeForms(random: Random, account: string, surveyName: string): Form[] {
  return CREATED.flatMap((created, index) =>
    Object.keys(questions).map((shortcode, place) => ({
      id: random.uuid(),
      userid: account,
      survey_name: surveyName,
      shortcode,
      title: titles[shortcode] ?? shortcode,
      formid: random.digits(8),
      created: created(place),
      metadata: JSON.stringify({ wave: index + 1, team: 'Água', tags: ['health', 'food'] }),
      translation_conf: JSON.stringify({ self: true }),
    })),
  );
}
