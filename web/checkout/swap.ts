/**
 * Replaces the old `#live` with the new one, and title, test banner and footer. Keyboard focus, half-typed fields and
 * opened details are preserved. `enhance` is called when the new one is in place, before the focus returns.
 */
export function swapLive(old: HTMLElement, next: Document, enhance: (live: HTMLElement) => void): HTMLElement {
  const parsed = next.getElementById('live');
  if (parsed === null) throw new Error('the page has no #live');
  const live = document.adoptNode(parsed);
  const refocus = rememberFocus(old);
  const typed = [...old.querySelectorAll<HTMLInputElement>('input, textarea')].filter(isTouched);
  const opened = [...old.querySelectorAll('details')].map((details) => ({ key: keyOf(details), open: details.open }));

  old.replaceWith(live);
  swapTestBanner(next);
  const footer = next.querySelector('body > footer');
  if (footer !== null) document.querySelector('body > footer')?.replaceWith(document.adoptNode(footer));
  document.title = next.title;
  for (const field of typed) {
    const same = findByKey(live.querySelectorAll<HTMLInputElement>('input, textarea'), keyOf(field));
    if (same === undefined) continue;
    same.value = field.value;
    same.checked = field.checked;
  }
  for (const { key, open } of opened) {
    const same = findByKey(live.querySelectorAll('details'), key);
    if (same !== undefined) same.open = open;
  }
  enhance(live);
  refocus(live);
  return live;
}

function isTouched(field: HTMLInputElement): boolean {
  return field.type !== 'hidden' && (field.value !== field.defaultValue || field.checked !== field.defaultChecked);
}

/** The markup as the server wrote it: its times are then redrawn for the reader. */
let bannerAsSent = document.getElementById('band')?.outerHTML;

function swapTestBanner(next: Document): void {
  const old = document.getElementById('band');
  const banner = next.getElementById('band');
  if (bannerAsSent === banner?.outerHTML) return;
  bannerAsSent = banner?.outerHTML;
  if (banner === null) old?.remove();
  else if (old === null) document.body.prepend(document.adoptNode(banner));
  else old.replaceWith(document.adoptNode(banner));
}

const FOCUSABLE = 'a[href], button, input, select, textarea, summary, [tabindex]';
const COPY = '[data-copy]';

/**
 * Returns a function that restores the focus; to the status if the focused element is gone, so that the keyboard does
 * not start over.
 */
function rememberFocus(old: HTMLElement): (live: HTMLElement) => void {
  const focused = document.activeElement;
  if (!(focused instanceof HTMLElement) || !old.contains(focused) || focused === old) return () => {};
  const key = keyOf(focused);
  const place = [...old.querySelectorAll(COPY)].indexOf(focused);
  const selection =
    focused instanceof HTMLInputElement ? ([focused.selectionStart, focused.selectionEnd] as const) : null;
  return (live) => {
    // The copied value may have changed, such as the missing amount: then the same button of the row.
    const same =
      findByKey(live.querySelectorAll<HTMLElement>(FOCUSABLE), key) ??
      (place < 0 ? undefined : live.querySelectorAll<HTMLElement>(COPY)[place]);
    if (same === undefined || same.hidden) return focusStatus(live);
    same.focus({ preventScroll: true });
    if (same instanceof HTMLInputElement && typeof selection?.[0] === 'number') same.setSelectionRange(...selection);
  };
}

function focusStatus(live: HTMLElement): void {
  const title = live.querySelector<HTMLElement>('#status-title');
  title?.setAttribute('tabindex', '-1');
  title?.focus({ preventScroll: true });
}

function findByKey<T extends Element>(among: NodeListOf<T>, key: string): T | undefined {
  return [...among].find((element) => keyOf(element) === key);
}

const NAMING = ['data-copy', 'data-wallet', 'name', 'href'];

/** The mark of an element in the next page: its id, or else its purpose, or else its text. */
function keyOf(element: Element): string {
  if (element.id !== '') return `#${element.id}`;
  const names = NAMING.map((name) => element.getAttribute(name));
  // A button's value distinguishes it from others of the same name; a field's value is what is being typed.
  if (element instanceof HTMLButtonElement) names.push(element.value);
  if (names.some(Boolean)) return [element.tagName, ...names].join(' ');
  const words = element instanceof HTMLDetailsElement ? element.querySelector('summary') : element;
  return `${element.tagName} ${words?.textContent.trim()}`;
}
