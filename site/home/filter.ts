import { button, copyButton, html } from './dom.ts';
import { ApiError } from './api.ts';
import { choiceList } from './choices.ts';
import { field, setProblem, valuesOf } from './controls.ts';
import { lastFileDay } from './last-files.ts';
import { loaded } from './loaded.ts';
import { formsOf, questionsOf } from './offers.ts';
import {
  type Values,
  cleared,
  daysOf,
  describeFilters,
  filtersOf,
  hrefOf,
  isFiltered,
  zoneOf,
} from './selection.ts';
import type { Session } from './session.ts';
import type { Summary } from './summaries.ts';
import { TIME_ZONE, answers, date, filter as texts, page, participants } from './texts.ts';

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
  const fields = filterFields(session, selection, signal, change);
  const what = html.span({});
  const clear = html.a('', texts.clear);
  const counts = html.div('match');

  const countsOf = (found: Summary) => {
    if (found.responses > 0)
      return `${participants(found.participants)}, ${answers(found.responses)}`;
    return isFiltered(selection) ? texts.none : texts.empty;
  };

  /** Counts the selection that is shown. */
  function count(current: AbortSignal): void {
    const { summaries } = session;
    const params = filtersOf(selection);
    const known = summaries.known(params, zoneOf(selection));

    const request = () =>
      summaries.get(params, current, zoneOf(selection)).catch((error: unknown) => {
        // the view says so
        if (error instanceof ApiError && error.code === 'no_responses') return undefined;
        throw error;
      });
    const render = (found: Summary | undefined) => {
      const isNobody = selection.has('userid') && found?.responses === 0;
      setProblem(fields.userid, isNobody ? texts.nobody : '');
      return [found && countsOf(found)];
    };
    const loading = () => (known ? countsOf(known) : page.counting);
    counts.replaceChildren(loaded(request, render, current, { loading }).node);
  }

  /** Shows a selection. */
  function show(shown: URLSearchParams): void {
    selection = shown;
    fields.show(shown);
    counts.hidden = false;
    what.textContent = describeFilters(shown).join(' · ') || texts.all;
    clear.href = hrefOf(cleared(shown));
    clear.hidden = !isFiltered(shown);
  }

  fields.form.addEventListener('input', () => {
    const values = fields.values();
    counts.hidden = !values;
    if (values) change(values);
  });
  show(selection);
  session.downloads.clear();

  // The bar stays in sight, the downloads do not.
  const element = new DocumentFragment();
  element.append(
    html.section(
      { className: 'selection', 'aria-label': texts.region },
      html.details({}, html.summary({}, html.b({}, texts.title), ' ', what), fields.form),
      html.div(
        'go',
        counts,
        clear,
        copyButton(() => location.href, texts.link, texts.copyLink),
      ),
    ),
    session.downloads.element,
  );
  return {
    element,
    show,
    count,
  };
}

/** The fields of the filter. */
function filterFields(
  session: Session,
  selection: URLSearchParams,
  signal: AbortSignal,
  change: (values: Values) => void,
) {
  const survey = selection.get('survey') ?? '';
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
  const sinceButton = ([value, text]: readonly [string, string]) => {
    const values = { since: [value], until: [], timezone: [TIME_ZONE] };
    return button(text, () => change(values), { className: 'quiet' });
  };
  const lastDay = lastFileDay(session.email, survey);

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
      ...Object.entries(texts.periods).map(sinceButton),
      lastDay === undefined ? undefined : sinceButton([lastDay, texts.lastFile(date(lastDay))]),
      zone,
    ),
    list('shortcode', formsOf),
    list('question_ref', questionsOf),
  );
  form.addEventListener('submit', (event) => event.preventDefault());
  let days = daysOf(selection);

  return {
    form,
    userid,

    show(shown: URLSearchParams): void {
      days = daysOf(shown);
      [since.value, until.value] = days;
      zone.textContent = texts.zone(zoneOf(shown));
    },

    /** Checks the days. @returns what can have changed; undefined if a day is invalid */
    values(): Values | undefined {
      const isReversed = since.value !== '' && until.value !== '' && since.value > until.value;
      setProblem(since, since.validationMessage);
      setProblem(until, isReversed ? texts.reversed : until.validationMessage);
      if (isReversed || !since.validity.valid || !until.validity.valid) return undefined;

      const names = ['shortcode', 'question_ref'];
      // the days of a period that is relative to today are not those of the form
      if (since.value !== days[0] || until.value !== days[1]) names.push('since', 'until');
      return { ...valuesOf(form, names), userid: [userid.value.trim()] };
    },
  };
}

const dayInput = (name: string) =>
  html.input({ name, type: 'date', min: '1000-01-01', max: '9999-12-31' });
