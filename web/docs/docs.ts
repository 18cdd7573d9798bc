import { copyText } from '../clipboard.ts';

const FEEDBACK_MS = 2_000;

/** The API reference was a part of `/docs` once, and links lead to its anchors there. */
if (location.pathname.replace(/\/$/, '') === '/docs' && location.hash !== '') followFormerAnchor();

/**
 * The documentation is complete without a script, which only adds copy buttons, a filter, and a menu that closes
 * itself.
 */
for (const block of document.querySelectorAll<HTMLElement>('figure.code')) addCopyButton(block);
addFilter();
foldContents();

function followFormerAnchor(): void {
  if (document.querySelector(`#${CSS.escape(location.hash.slice(1))}`) === null)
    location.replace(`/docs/api${location.hash}`);
}

function addCopyButton(block: HTMLElement): void {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  const label = block.querySelector('figcaption')?.textContent ?? '';
  button.setAttribute('aria-label', `Copy: ${label}`);
  button.addEventListener('click', () => void copy(block, button));
  block.append(button);
}

async function copy(block: HTMLElement, button: HTMLElement): Promise<void> {
  const copied = await copyText(block.querySelector('code')?.textContent ?? '', button);
  button.textContent = copied ? 'Copied' : 'Not copied';
  announce(copied ? 'Copied.' : 'It could not be copied.');
  setTimeout(() => {
    button.textContent = 'Copy';
  }, FEEDBACK_MS);
}

function announce(text: string): void {
  const announcer = document.querySelector('#announcer');
  if (announcer !== null) announcer.textContent = text;
}

/** Filters long contents by all the words entered. The key `/` leads to the filter, or else to the search. */
function addFilter(): void {
  const nav = document.querySelector('#contents nav[data-filter]');
  const search = document.querySelector<HTMLInputElement>('#q');
  const input = nav === null ? search : filterOf(nav);
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof Element && event.target.matches('input, textarea, select');
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    event.preventDefault();
    input?.focus();
  });
}

function filterOf(nav: Element): HTMLInputElement {
  const input = document.createElement('input');
  input.type = 'search';
  input.placeholder = 'Filter';
  input.setAttribute('aria-label', 'Filter the contents');
  input.addEventListener('input', () => filter(nav, input.value));
  nav.prepend(input);
  return input;
}

function filter(nav: Element, typed: string): void {
  const words = typed.toLowerCase().split(/\s+/);
  for (const list of nav.querySelectorAll('ul')) {
    let shown = 0;
    for (const item of list.children) {
      const text = `${item.textContent} ${item.querySelector('a')?.hash ?? ''}`.toLowerCase();
      const fits = words.every((word) => text.includes(word));
      item.toggleAttribute('hidden', !fits);
      if (fits) shown += 1;
    }
    list.toggleAttribute('hidden', shown === 0);
    list.previousElementSibling?.toggleAttribute('hidden', shown === 0);
  }
}

/** On a small screen the contents would come before everything else: they open when needed, and close when used. */
function foldContents(): void {
  const contents = document.querySelector<HTMLDetailsElement>('#contents');
  const isSmall = matchMedia('(max-width: 63.99rem)');
  if (contents === null) return;
  const fit = (): void => {
    contents.open = !isSmall.matches;
  };
  fit();
  isSmall.addEventListener('change', fit);
  contents.addEventListener('click', (event) => {
    if (isSmall.matches && event.target instanceof Element && event.target.closest('a') !== null) contents.open = false;
  });
}
