import { copyButton, html } from '../shared/dom.ts';
import { ApiError, pause } from './api.ts';
import { choiceList } from './choices.ts';
import { field, setProblem } from './controls.ts';
import { dayAfter, dayIn } from './dates.ts';
import { lastFileDay } from './last-files.ts';
import { loaded } from './loaded.ts';
import { formsOf, questionsOf } from './offers.ts';
import { changed, cleared, describeFilters, filtersOf, hrefOf, isFiltered, viewOf, zoneOf } from './selection.ts';
import type { Session } from './session.ts';
import type { Summary } from './summaries.ts';
import { TIME_ZONE, answers, date, filter as texts, participants } from './texts.ts';

/** The delay after the last change before a selection is counted and shown. */
export const REST_MS = 400;

type Values = Readonly<Record<string, readonly string[]>>;

interface SelectionBar {
  readonly element: HTMLElement;
  /** Shows a selection. */
  readonly show: (selection: URLSearchParams) => void;
}

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
): SelectionBar {
  const { summaries, downloads, email } = session;
  const survey = selection.get('survey') ?? '';
  const dayInput = (name: string) => html.input({ name, type: 'date', min: '1000-01-01', max: '9999-12-31' });
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
      ...texts.lists[name],
      load: () => load(session, survey, signal),
      chosen: selection.getAll(name),
      signal,
    });
  const shortcode = list('shortcode', formsOf);
  const questionRef = list('question_ref', questionsOf);
  const zone = html.p('note');
  const quick = html.p('quick');
  const form = html.form(
    { noValidate: true, 'aria-label': texts.title },
    html.div('fields', field(texts.since, since), field(texts.until, until)),
    quick,
    zone,
    shortcode.row,
    questionRef.row,
    field(texts.participant, userid),
  );
  const what = html.span({});
  const clear = html.a('', texts.clear);
  const toDownload = html.a('button main', texts.download);

  const countsOf = (found: Summary) => {
    if (found.responses === 0) return isFiltered(selection) ? texts.none : texts.empty;
    return `${participants(found.participants)}, ${answers(found.responses)}`;
  };
  let counted = '';
  let current = new AbortController();
  const { node, reload } = loaded(
    async () => {
      current.abort();
      current = new AbortController();
      const now = AbortSignal.any([current.signal, signal]);
      if (counted !== '') await pause(REST_MS, now);
      counted = String(filtersOf(selection));
      return summaries.get(filtersOf(selection), now, zoneOf(selection)).catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 'no_responses') return undefined; // the view says so
        throw error;
      });
    },
    (found) => {
      setProblem(userid, selection.has('userid') && found?.responses === 0 ? texts.nobody : '');
      return [found && countsOf(found)];
    },
    signal,
    {
      loading() {
        const known = summaries.known(filtersOf(selection), zoneOf(selection));
        return known ? countsOf(known) : texts.counting;
      },
    },
  );
  node.className = 'match';

  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('input', () => {
    const isReversed = since.value !== '' && until.value !== '' && since.value > until.value;
    setProblem(since, since.validationMessage);
    setProblem(until, isReversed ? texts.reversed : until.validationMessage);
    if (isReversed || !since.validity.valid || !until.validity.valid) return;
    change({
      since: [since.value],
      until: [until.value],
      shortcode: shortcode.values(),
      question_ref: questionRef.values(),
      userid: [userid.value.trim()],
    });
  });

  function show(shown: URLSearchParams): void {
    selection = shown;
    since.value = shown.get('since') ?? '';
    until.value = shown.get('until') ?? '';
    what.textContent = describeFilters(shown).join(' · ') || texts.all;
    zone.textContent = texts.zone(zoneOf(shown));
    clear.href = hrefOf(cleared(shown));
    clear.hidden = !isFiltered(shown);
    toDownload.href = hrefOf(changed(shown, { view: ['download'] }));
    toDownload.hidden = viewOf(shown) === 'download';
    const last = lastFileDay(email, survey);
    const from = (day: string, text: string) =>
      html.a({ href: hrefOf(changed(shown, { since: [day], until: [], timezone: [TIME_ZONE] })) }, text);
    quick.replaceChildren(
      from(dayAfter(dayIn(TIME_ZONE), -6), texts.week),
      ' ',
      last === undefined ? '' : from(last, texts.lastFile(date(last))),
    );
    if (counted !== '' && counted !== String(filtersOf(shown))) void reload();
  }
  show(selection);
  return {
    element: html.section(
      { className: 'selection', 'aria-label': texts.region },
      html.details({}, html.summary({}, html.b({}, texts.title), ' ', what), form),
      html.div(
        'go',
        node,
        clear,
        copyButton(() => location.href, texts.link, texts.copyLink),
        toDownload,
      ),
      downloads.element,
    ),
    show,
  };
}
