import { element } from '../../shared/dom.ts';
import { update as texts } from '../texts.ts';

/**
 * Takes an older file, which is chosen here or dropped anywhere on the page.
 *
 * @param start called with the file
 */
export function updateView(start: (file: File) => void, signal: AbortSignal): HTMLElement {
  const state = element('p', { className: 'state', role: 'alert' });
  const input = element('input', { id: 'older', type: 'file', accept: '.csv,text/csv' });
  const section = element(
    'section',
    { className: 'update', 'aria-labelledby': 'update' },
    element('h3', { id: 'update' }, texts.title),
    element('p', { id: 'update-note', className: 'note' }, texts.lead),
    element('label', { htmlFor: 'older' }, texts.label),
    input,
    state,
  );
  input.setAttribute('aria-describedby', 'update-note');
  const take = (files: FileList) => {
    const [file] = files;
    state.textContent = file && files.length === 1 ? '' : texts.oneFile;
    if (file && files.length === 1) start(file);
  };

  input.addEventListener('change', () => {
    if (input.files && input.files.length > 0) take(input.files);
    input.value = ''; // so that the same file can be chosen again
  });
  const dragged = (event: DragEvent) => event.dataTransfer?.types.includes('Files');
  const mark = (isOver: boolean) => section.classList.toggle('over', isOver);
  // Without these, the browser would open the file in place of the page.
  addEventListener(
    'dragover',
    (event) => {
      if (!dragged(event)) return;
      event.preventDefault();
      mark(true);
    },
    { signal },
  );
  addEventListener('dragleave', (event) => event.relatedTarget ?? mark(false), { signal });
  addEventListener(
    'drop',
    (event) => {
      if (!event.dataTransfer || !dragged(event)) return;
      event.preventDefault();
      mark(false);
      take(event.dataTransfer.files);
    },
    { signal },
  );
  return section;
}
