import { html } from '../../shared/dom.ts';
import { field } from '../controls.ts';
import { update as texts } from '../texts.ts';

/**
 * Takes an older file, which is chosen here or dropped anywhere on the page.
 *
 * @param start called with the file
 */
export function updateView(start: (file: File) => void, signal: AbortSignal): HTMLElement {
  const state = html.p({ className: 'state', role: 'alert' });
  const input = html.input({
    type: 'file',
    accept: '.csv,text/csv',
    'aria-describedby': 'update-note',
  });
  const section = html.section(
    { className: 'update', 'aria-labelledby': 'update' },
    html.h2({ id: 'update' }, texts.title),
    html.p({ id: 'update-note', className: 'note' }, texts.lead),
    field(texts.label, input),
    state,
  );
  const take = (files: FileList) => {
    const [file] = files;
    state.textContent = file && files.length === 1 ? '' : texts.oneFile;
    if (file && files.length === 1) start(file);
  };

  input.addEventListener('change', () => {
    if (input.files && input.files.length > 0) take(input.files);
    input.value = ''; // so that the same file can be chosen again
  });
  const drag = (event: DragEvent) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault(); // the browser would open the file in place of the page
    section.classList.toggle('over', event.type === 'dragover');
    if (event.type === 'drop') take(event.dataTransfer.files);
  };
  for (const type of ['dragover', 'dragleave', 'drop'] as const)
    addEventListener(type, drag, { signal });
  return section;
}
