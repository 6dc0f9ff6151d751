import { field, setProblem } from '../controls.ts';
import { html } from '../dom.ts';
import type { Choice } from '../choices.ts';
import type { Limits } from '../limits.ts';
import { cut } from '../long-text.ts';
import { split as texts } from '../texts.ts';
import type { Asked } from './asked.ts';
import { BY_FORM, byArm, byMetadata, isArm, kindOf, questionName } from './split.ts';

/** What is chosen to enter the name of a treatment arm. */
const ARM = 'arm';

interface SplitControlOptions {
  readonly split: string;
  readonly asked: readonly Asked[];
  /** Metadata keys. */
  readonly keys: readonly Choice[];
  readonly limits: Limits | null;
  readonly choose: (split: string) => void;
}

/** A list to choose what answers are split by, and a field for the name of a treatment arm. */
export function splitControl({ split, asked, keys, limits, choose }: SplitControlOptions) {
  const [kind, name] = kindOf(split);
  const arm = html.input({
    value: kind === ARM ? name : '',
    placeholder: texts.arm,
    spellcheck: false,
  });
  const armField = field(texts.armLabel, arm);

  const refs = new Set(asked.map(({ question }) => question.question_ref));
  const named = keys.map(({ value }) => value);
  // A key of a link may be rare.
  if (kind === 'metadata' && !named.includes(name)) named.push(name);

  const group = (label: string, options: readonly (readonly [value: string, text: string])[]) =>
    html.optgroup({ label }, ...options.map(([value, text]) => option(value, text)));
  const selected = kind === ARM ? ARM : split;
  const option = (value: string, text: string) =>
    html.option({ value, selected: value === selected }, text);

  const select = html.select(
    {},
    option('', texts.none),
    refs.size < asked.length ? option(BY_FORM, texts.form) : undefined,
    limits?.metadata?.includes('seed') === false ? undefined : option(ARM, texts.arms),
    group(
      texts.metadata,
      named.map((key) => [byMetadata(key), key]),
    ),
    ...Array.from(
      Map.groupBy(asked, ({ form }) => form),
      ([{ name: form }, ofForm]) =>
        group(
          cut(form, 60, 1),
          ofForm.map(({ question }) => [
            questionName(question),
            cut(question.question_text, 60, 1) || question.question_ref,
          ]),
        ),
    ),
  );

  const show = () => {
    armField.hidden = select.value !== ARM;
    if (select.value !== ARM) return choose(select.value);
    const entered = arm.value.trim();
    setProblem(arm, entered === '' || isArm(entered) ? '' : texts.noArm);
    if (isArm(entered)) choose(byArm(entered));
    else arm.focus();
  };
  armField.hidden = kind !== ARM;
  select.addEventListener('input', show);
  arm.addEventListener('change', show);
  return [field(texts.label, select), armField];
}
