import { button, html } from '../dom.ts';
import { size } from '../size.ts';
import { downloads as texts } from '../texts.ts';
import type { Manifest } from './manifest.ts';
import type { Progress } from './transfer.ts';

/** The speed is averaged over this time. */
const WINDOW_MS = 5000;
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

  let samples: { time: number; bytes: number; rows: number }[] = [];
  let quarter = 0;

  return {
    element: card,

    running(progress) {
      const { bytes, rows, total, name, state } = progress;
      card.className = 'running';
      file.textContent = name;
      bar.hidden = false;
      action.hidden = true;
      removal.className = '';
      removal.textContent = texts.cancel;
      if (total) Object.assign(bar, { max: total, value: Math.min(rows, total) });
      else bar.removeAttribute('value');
      if (state !== 'running') {
        samples = [];
        if (text.textContent !== texts.waiting[state]) announce(texts.waiting[state]);
        text.textContent = texts.waiting[state];
        return;
      }
      const now = { time: performance.now(), bytes, rows };
      samples = samples.filter((one) => one.time > now.time - WINDOW_MS && one.bytes <= bytes);
      samples.push(now);
      const [first = now] = samples;
      const seconds = (now.time - first.time) / 1000;
      const speed = seconds < 1 ? 0 : (bytes - first.bytes) / seconds;
      const rowSpeed = seconds < 1 ? 0 : (rows - first.rows) / seconds;
      text.textContent = [
        amount(progress),
        ...(speed > 0 ? [texts.speed(size(Math.round(speed)))] : []),
        ...(total && rowSpeed > 0 && rows < total ? [texts.left((total - rows) / rowSpeed)] : []),
      ].join(' · ');
      const reached = total ? Math.min(Math.floor((4 * rows) / total), 3) : 0;
      if (reached > quarter) announce(texts.quarter(25 * reached, survey));
      quarter = reached;
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
  const counted = total === null ? [] : [texts.of(rows, total)];
  return [...(total === null && rows > 0 ? [texts.rows(rows)] : counted), size(bytes)].join(', ');
}
