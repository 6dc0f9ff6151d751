import { formatInstant } from '../../src/responses/timestamp.ts';
import { type Question, languages, questions } from './questions.ts';
import type { Random } from './random.ts';

/**
 * Most participants who start after this time get the second versions. For weeks, both versions get
 * answers.
 */
const SECOND_VERSION = Date.parse('2026-02-02T09:00:00Z');
const FIRST_START = Date.parse('2026-01-06T06:00:00Z');
const LAST_START = Date.parse('2026-03-01T21:00:00Z');
const QUARTER = 15 * 60_000;
const DAY = 24 * 3_600_000;
/** Each begins with an advertisement, which more people follow at first than later. */
const WAVES = [
  [FIRST_START, SECOND_VERSION],
  [SECOND_VERSION, LAST_START],
] as const;

const platforms = ['messenger', 'whatsapp', 'instagram'] as const;
/** A form version, as far as its responses need it. */
type Form = Readonly<Record<'id' | 'shortcode', string>>;

/** Ids of the pages that the chats run on, with more digits than a double has. */
const pages = ['935593143497601123', '104882517369924467'] as const;

/**
 * Makes the responses of a study's participants, as rows of the table. They come in two waves, and
 * answer the forms one after the other. Some do not want to take part, some leave early, and some
 * do not answer the last form, weeks later.
 *
 * @param forms first version of each form, then the second version of each
 */
export function makeResponses(random: Random, forms: Form[], participants: number) {
  const ids = Array.from({ length: participants }, (_, index) => 1_600_000_000_000 + index * 17);
  return ids.flatMap((flowid) => Array.from(makeParticipant(random, forms, flowid)));
}

function* makeParticipant(random: Random, forms: Form[], flowid: number) {
  // Participants start on the quarter hour, so that several answer at the same moment.
  const place = FIRST_START + random.integer(0, (LAST_START - FIRST_START) / QUARTER) * QUARTER;
  const [from, to] = place < SECOND_VERSION ? WAVES[0] : WAVES[1];
  const inWave = (to - from) * ((place - from) / (to - from)) ** 1.5;
  const start = from + Math.floor(inWave / QUARTER) * QUARTER;
  const half = forms.length / 2;
  const isSecond = start >= SECOND_VERSION && random.chance(0.8);
  const own = isSecond ? forms.slice(half) : forms.slice(0, half);
  const person = {
    flowid,
    userid: random.digits(16),
    seed: Number(random.digits(9)),
    pageid: random.chance(0.95) ? random.pick(pages) : null,
    parent_surveyid: own[0]?.id,
    parent_shortcode: own[0]?.shortcode,
  };

  const language = random.integer(0, languages.length - 1);
  const { seed, pageid } = person;
  const metadata = makeMetadata(random, {
    startTime: start,
    seed,
    pageid,
    language: languages[language],
  });

  let left = random.chance(0.8) ? Infinity : random.integer(1, 9);
  let isGone = false;
  let time = start * 1000; // microseconds
  for (const [formIndex, form] of own.entries()) {
    for (const [index, question] of (questions[form.shortcode] ?? []).entries()) {
      if (left === 0) return;
      left -= 1;
      const answer = makeAnswer(random, question, language, seed);
      const english = answer.translated_response ?? answer.response;
      const row = {
        ...person,
        ...answer,
        surveyid: form.id,
        shortcode: form.shortcode,
        question_ref: question.ref,
        question_idx: index,
        question_text: (isSecond && question.texts[1]) || question.texts[0],
        timestamp: formatInstant(BigInt(time)),
        metadata,
      };
      if (form.shortcode === 'healthlater' && seed % 3 === 0) isGone = true;
      if (!isGone) yield row;
      if (question.ref === 'consent' && english === 'No') isGone = true;

      // Usually seconds, sometimes so few microseconds that both answers fall into one millisecond.
      time += random.chance(0.03) ? random.integer(1, 400) : random.integer(2_000_000, 90_000_000);
    }

    time += (formIndex + 1) * random.integer(1, 10) * DAY * 1000;
  }
}

function makeAnswer(
  random: Random,
  { answers, arm2 = answers }: Question,
  language: number,
  seed: number,
) {
  const answer = random.pick(seed % 2 === 0 ? answers : arm2);
  if (typeof answer === 'string') return { response: answer, translated_response: null };
  return { response: answer[language], translated_response: language === 0 ? null : answer[0] };
}

/** Some participants have no metadata, some came without an ad, and some have no page. */
function makeMetadata(
  random: Random,
  { pageid, ...hidden }: { pageid: string | null; [name: string]: unknown },
) {
  if (random.chance(0.02)) return null;
  const platform = random.pick(platforms);
  const ad = random.chance(0.6) && {
    ad_id: `2384${random.digits(13)}`,
    cluster: `cluster ${random.integer(1, 20)}`,
  };

  return { ...hidden, platform, ...ad, ...(pageid !== null && { pageid }) };
}
