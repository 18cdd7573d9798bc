import { copyText } from '../clipboard.ts';
import { announce, type Translate } from './texts.ts';

const FEEDBACK_MS = 2_000;

/**
 * Copies the exact text of a `data-copy` button, or the whole address of the path that `data-copy-page` names, and
 * reports the result on the button and to screen readers.
 */
export function copyOnClick(translate: Translate): void {
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>(BUTTON) : null;
    if (button !== null) void copy(button, translate);
  });
}

const BUTTON = '[data-copy], [data-copy-page]';

async function copy(button: HTMLElement, translate: Translate): Promise<void> {
  const { copy: exact, copyPage = '' } = button.dataset;
  const copied = await copyText(exact ?? new URL(copyPage, location.href).href, button);
  const text = translate(copied ? 'copied' : 'copy_failed');
  announce(text);
  // A second click while the first is still being handled.
  if (button.dataset['feedback'] !== undefined) return;
  const label = button.querySelector('span') ?? button;
  const before = [...label.childNodes];
  button.dataset['feedback'] = copied ? 'copied' : 'failed';
  label.replaceChildren(text);
  setTimeout(() => {
    label.replaceChildren(...before);
    delete button.dataset['feedback'];
  }, FEEDBACK_MS);
}
