import { button, html } from '../dom.ts';
import { size } from '../size.ts';
import { downloads as texts } from '../texts.ts';
import type { Manifest } from './manifest.ts';
import type { Progress } from './transfer.ts';

let cards = 0;

interface CardOptions {
  readonly survey: string;
  /** The format, the layout and the filters. */
  readonly about: string;
  /** A warning that is shown until the download is complete; empty for none. */
  readonly note: string;
  /** Called by the first button, whose label `stopped` sets. */
  readonly act: () => void;
  /** Called by the second button. */
  readonly remove: () => void;
  /** Has screen readers read a text. */
  readonly announce: (text: string) => void;
}

interface Card {
  readonly element: HTMLElement;
  readonly running: (progress: Progress) => void;
  /**
   * Shows why the download does not run, or that it is complete.
   *
   * @param label of the button that calls `act`
   */
  readonly stopped: (reason: string, label: string, manifest: Manifest) => void;
}

/** One download in the list: its name, its state, and two buttons. */
export function createCard({ survey, about, note, act, remove, announce }: CardOptions): Card {
  const id = `download-${cards++}`;
  const file = html.span('note');
  const bar = html.progress({ 'aria-label': texts.progress(survey) });
  const text = html.p('result');
  const actOnce = () => {
    act();
    if (action.hidden) card.focus(); // not the other button, which a second key press would trigger
  };
  const action = button('', actOnce, { 'aria-describedby': id, hidden: true });
  const removal = button(texts.cancel, remove, { 'aria-describedby': id });
  const card = html.li(
    { tabIndex: -1 },
    html.div(
      'body',
      html.p({ id, className: 'what' }, html.bdi({}, survey), file),
      bar,
      text,
      html.p({ className: 'note about', title: about, dir: 'auto' }, about),
      note === '' ? undefined : html.p('note warning', note),
    ),
    html.div('buttons', action, removal),
  );

  /** Since when it runs, in milliseconds, and how much had arrived then. */
  let start: { readonly time: number; readonly rows: number } | undefined;

  function showProgress(progress: Progress): void {
    const { rows, total } = progress;
    const time = performance.now();
    start ??= { time, rows };
    const seconds = (time - start.time) / 1000;
    const rate = (rows - start.rows) / seconds;

    // of a workbook, the service first reads all answers
    const parts = [progress.bytes === 0 ? texts.preparing : amount(progress)];
    if (total && rows < total && seconds > 1 && rate > 0)
      parts.push(texts.left((total - rows) / rate));
    text.textContent = parts.join(' · ');
  }

  function showWaiting(reason: string): void {
    start = undefined;
    if (text.textContent !== reason) announce(reason);
    text.textContent = reason;
  }

  return {
    element: card,

    running(progress) {
      const { rows, total, name, state } = progress;
      card.className = 'running';
      file.textContent = name;
      bar.hidden = false;
      action.hidden = true;
      removal.className = '';
      removal.textContent = texts.cancel;

      if (total) Object.assign(bar, { max: total, value: Math.min(rows, total) });
      else bar.removeAttribute('value');

      if (state === 'running') showProgress(progress);
      else showWaiting(texts.waiting[state]);
    },

    stopped(reason, label, { name, isComplete }) {
      card.className = isComplete ? 'complete' : 'stopped';
      action.className = isComplete ? 'quiet' : 'main';
      removal.className = isComplete ? 'quiet' : '';
      file.textContent = name;
      bar.hidden = true;
      text.textContent = reason;
      action.textContent = label;
      action.hidden = false;
      removal.textContent = texts.remove;
    },
  };
}

/** How much has arrived. */
export function amount({ bytes, rows, total }: Pick<Progress, 'bytes' | 'rows' | 'total'>): string {
  const parts = [size(bytes)];
  if (total !== null) parts.unshift(texts.of(rows, total));
  else if (rows > 0) parts.unshift(texts.rows(rows));
  return parts.join(', ');
}
