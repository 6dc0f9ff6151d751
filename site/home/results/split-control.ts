import { field, setProblem } from '../controls.ts';
import { html } from '../dom.ts';
import type { Limits } from '../limits.ts';
import { cut } from '../long-text.ts';
import { split as texts } from '../texts.ts';
import type { Asked } from './asked.ts';
import { isArm, partsOfSplit, questionName, splitBy } from './split.ts';

/** The value in the list for the treatment arm that is entered. */
const ARM = 'arm';

interface SplitControlOptions {
  readonly split: string;
  readonly asked: readonly Asked[];
  /** Metadata keys. */
  readonly keys: readonly string[];
  readonly limits: Limits | null;
  readonly choose: (split: string) => void;
}

/** A list to choose what answers are split by, and a field for the name of a treatment arm. */
export function splitControl({ split, asked, keys, limits, choose }: SplitControlOptions) {
  const [kind, name = ''] = partsOfSplit(split);
  const option = (value: string, text: string) =>
    html.option({ value, selected: value === (kind === ARM ? ARM : split) }, text);

  const byKey = new Set(keys);
  if (kind === 'metadata') byKey.add(name); // a rare one of a link
  const refs = new Set(asked.map(({ question_ref: ref }) => ref));
  const byForm = Map.groupBy(asked, ({ form }) => form.name);
  const questions = ([label, ofForm]: readonly [string, readonly Asked[]]) =>
    html.optgroup(
      { label: cut(label, 60, 1) },
      ...ofForm.map((one) =>
        option(questionName(one), cut(one.question_text, 60, 1) || one.question_ref),
      ),
    );

  const select = html.select(
    {},
    option('', texts.none),
    refs.size < asked.length ? option(splitBy('form'), texts.form) : undefined,
    limits?.metadata?.includes('seed') === false ? undefined : option(ARM, texts.arms),
    html.optgroup(
      { label: texts.metadata },
      ...[...byKey].map((key) => option(splitBy('metadata', key), cut(key, 60, 1))),
    ),
    ...[...byForm].map(questions),
  );
  const arm = html.input({ value: kind === ARM ? name : '', placeholder: texts.arm });
  const armField = field(texts.armLabel, arm);
  armField.hidden = kind !== ARM;

  const show = () => {
    armField.hidden = select.value !== ARM;
    const entered = arm.value.trim();
    setProblem(arm, entered === '' || isArm(entered) ? '' : texts.noArm);
    if (select.value !== ARM) choose(select.value);
    else if (isArm(entered)) choose(splitBy(ARM, entered));
  };
  select.addEventListener('input', show);
  arm.addEventListener('change', show);
  return [field(texts.label, select), armField];
}
