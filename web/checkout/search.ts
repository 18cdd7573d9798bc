import { announce, type Translate } from './texts.ts';

/** Filters the tokens by the text in `input[data-search]`. */
export function searchTokens(translate: Translate): { draw(): void } {
  const draw = () => {
    const input = document.querySelector<HTMLInputElement>('input[data-search]');
    if (input === null) return;
    const words = plain(input.value).split(/\s+/);
    const tokens = [...document.querySelectorAll<HTMLElement>('[data-token]')];
    for (const token of tokens) {
      const text = plain(token.dataset['token'] ?? '');
      token.hidden = !words.every((word) => text.includes(word));
    }
    const none = document.querySelector<HTMLElement>('[data-no-match]');
    if (none === null) return;
    const isEmpty = tokens.every((token) => token.hidden);
    if (none.textContent.trim() === '') none.textContent = translate('no_match');
    if (isEmpty && none.hidden) announce(none.textContent.trim());
    none.hidden = !isEmpty;
  };
  document.addEventListener('input', (event) => {
    if (isSearch(event.target)) draw();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !isSearch(event.target)) return;
    // Enter would press the form's first button, which may be a token that the search has hidden.
    event.preventDefault();
    document.querySelector<HTMLElement>('[data-token]:not([hidden]) :is(button, summary)')?.focus();
  });
  return { draw };
}

function isSearch(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement && target.dataset['search'] !== undefined;
}

/** Lower case and without accents: "tether" finds "Téther". */
function plain(text: string): string {
  return text.trim().toLowerCase().normalize('NFKD').replace(/\p{M}/gu, '');
}
