import { announce, type Say } from './texts.ts';

const FEEDBACK_MS = 2_000;

/** Copies the exact text of a `data-copy` button, and says on the button and to screen readers whether it did. */
export function copyOnClick(say: Say): void {
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-copy]') : null;
    if (button !== null) void copy(button, say);
  });
}

async function copy(button: HTMLElement, say: Say): Promise<void> {
  const copied = await copyText(button.dataset['copy'] ?? '', button);
  const text = say(copied ? 'copied' : 'copy_failed');
  announce(text);
  // A second click while the first is still being answered for.
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

async function copyText(text: string, button: HTMLElement): Promise<boolean> {
  try {
    // Missing on plain http, and refused in frames that do not allow it.
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text, button);
  }
}

function copySelected(text: string, button: HTMLElement): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.readOnly = true;
  // Through CSSOM: the page's policy refuses style attributes. Off the screen, but not `display: none`, which selects nothing.
  Object.assign(area.style, { position: 'fixed', top: '0', opacity: '0' });
  document.body.append(area);
  area.select();
  let copied = false;
  try {
    copied = document.execCommand('copy');
  } catch {
    // As good as refused.
  }
  area.remove();
  button.focus({ preventScroll: true });
  return copied;
}
