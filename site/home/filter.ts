import { button, copyButton, html } from './dom.ts';
import { ApiError } from './api.ts';
import { choiceList } from './choices.ts';
import { field, setProblem, valuesOf } from './controls.ts';
import { dayAfter, dayIn } from './dates.ts';
import { lastFileDay } from './last-files.ts';
import { loaded } from './loaded.ts';
import { formsOf, questionsOf } from './offers.ts';
import {
  changed,
  cleared,
  describeFilters,
  filtersOf,
  hrefOf,
  isFiltered,
  viewOf,
  zoneOf,
} from './selection.ts';
import type { Session } from './session.ts';
import type { Summary } from './summaries.ts';
import { TIME_ZONE, answers, date, filter as texts, participants } from './texts.ts';

type Values = Readonly<Record<string, readonly string[]>>;

/**
 * What is selected, how much it is, and the fields to change it.
 *
 * @param selection shown at first
 * @param change called with the new values of the parameters
 */
export function selectionBar(
  session: Session,
  selection: URLSearchParams,
  signal: AbortSignal,
  change: (values: Values) => void,
) {
  const { summaries, downloads, email } = session;
  const survey = selection.get('survey') ?? '';
  const dayInput = (name: string) =>
    html.input({ name, type: 'date', min: '1000-01-01', max: '9999-12-31' });
  const since = dayInput('since');
  const until = dayInput('until');
  const userid = html.input({
    name: 'userid',
    value: selection.get('userid') ?? '',
    placeholder: texts.everyone,
    spellcheck: false,
    autocomplete: 'off',
  });
  const list = (name: keyof typeof texts.lists, load: typeof formsOf) =>
    choiceList({
      name,
      ...texts.lists[name],
      load: () => load(session, survey, signal),
      chosen: selection.getAll(name),
      signal,
    });
  const zone = html.span('note');
  const from = (day: string, text: string) =>
    button(text, () => change({ since: [day], until: [], timezone: [TIME_ZONE] }), {
      className: 'quiet',
    });
  const last = lastFileDay(email, survey);
  const form = html.form(
    { noValidate: true, 'aria-label': texts.title },
    html.div(
      'fields',
      field(texts.since, since),
      field(texts.until, until),
      field(texts.participant, userid),
    ),
    html.div(
      'buttons',
      from(dayAfter(dayIn(TIME_ZONE), -6), texts.week),
      last === undefined ? undefined : from(last, texts.lastFile(date(last))),
      zone,
    ),
    list('shortcode', formsOf),
    list('question_ref', questionsOf),
  );
  const what = html.span({});
  const clear = html.a('', texts.clear);
  const toDownload = html.a('button main quiet', texts.download);

  const counts = html.div('match');

  const countsOf = (found: Summary) => {
    if (found.responses === 0) return isFiltered(selection) ? texts.none : texts.empty;
    return `${participants(found.participants)}, ${answers(found.responses)}`;
  };
  /** Counts the selection that is shown. */
  function count(now: AbortSignal): void {
    const params = filtersOf(selection);
    const known = summaries.known(params, zoneOf(selection));
    const { node } = loaded(
      () =>
        summaries.get(params, now, zoneOf(selection)).catch((error: unknown) => {
          // the view says so
          if (error instanceof ApiError && error.code === 'no_responses') return undefined;
          throw error;
        }),
      (found) => {
        setProblem(userid, selection.has('userid') && found?.responses === 0 ? texts.nobody : '');
        return [found && countsOf(found)];
      },
      now,
      { loading: () => (known ? countsOf(known) : texts.counting) },
    );
    counts.replaceChildren(node);
  }

  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('input', () => {
    const isReversed = since.value !== '' && until.value !== '' && since.value > until.value;
    setProblem(since, since.validationMessage);
    setProblem(until, isReversed ? texts.reversed : until.validationMessage);
    counts.hidden = isReversed || !since.validity.valid || !until.validity.valid;
    if (counts.hidden) return;
    const values = valuesOf(form, ['since', 'until', 'shortcode', 'question_ref']);
    change({ ...values, userid: [userid.value.trim()] });
  });

  /** Shows a selection. */
  function show(shown: URLSearchParams): void {
    selection = shown;
    counts.hidden = false;
    since.value = shown.get('since') ?? '';
    until.value = shown.get('until') ?? '';
    what.textContent = describeFilters(shown).join(' · ') || texts.all;
    zone.textContent = texts.zone(zoneOf(shown));
    clear.href = hrefOf(cleared(shown));
    clear.hidden = !isFiltered(shown);
    toDownload.href = hrefOf(changed(shown, { view: ['download'] }));
    toDownload.hidden = viewOf(shown) === 'download';
  }
  show(selection);
  return {
    element: html.section(
      { className: 'selection', 'aria-label': texts.region },
      html.details({}, html.summary({}, html.b({}, texts.title), ' ', what), form),
      html.div(
        'go',
        counts,
        clear,
        copyButton(() => location.href, texts.link, texts.copyLink),
        toDownload,
      ),
      downloads.element,
    ),
    show,
    count,
  };
}
