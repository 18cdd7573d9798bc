import { announce, type Translate } from './texts.ts';

/** After this long without an answer the customer may try again. */
const GIVE_UP_MS = 15_000;

/** The page in which the answer to a form is shown without leaving it. */
export interface InPlace {
  /** The path of the form's page, which is shown if the answer is another page. */
  path(): string;
  /** Shows the answer. Throws if it is not the page of this payment. */
  show(next: Document, receivedAt: number): void;
  /** No answer came: the form may or may not have been processed. */
  onLost(): void;
}

/**
 * Makes a second click, on the same button or another, submit nothing while the first is being submitted, and marks the
 * clicked button at once. With `page` the answer is shown in place, as changes are; without it, by the browser.
 */
export function submitOnce(translate: Translate, page: InPlace | null): void {
  let busy = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const free = () => {
    busy = false;
    clearTimeout(timer);
    for (const one of document.querySelectorAll('[aria-busy]')) one.removeAttribute('aria-busy');
  };
  document.addEventListener('submit', (event) => {
    if (busy) {
      event.preventDefault();
      return;
    }
    const form = event.target;
    if (event.defaultPrevented || !(form instanceof HTMLFormElement)) return;
    busy = true;
    (event.submitter ?? form).setAttribute('aria-busy', 'true');
    announce(translate('working'));
    if (page === null) {
      timer = setTimeout(free, GIVE_UP_MS);
      return;
    }
    event.preventDefault();
    void send(form, event.submitter, page).then(free);
  });
  markLinks();
  // Also for a page restored from the history in its old state.
  addEventListener('pageshow', free);
}

/** A link to another of these pages is followed by the browser, which shows nothing until it has the answer. */
function markLinks(): void {
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (link === null || event.defaultPrevented || !isPlain) return;
    const leaves = link.origin === location.origin && link.target === '' && !link.hasAttribute('download');
    if (leaves) link.setAttribute('aria-busy', 'true');
  });
}

async function send(form: HTMLFormElement, submitter: HTMLElement | null, page: InPlace): Promise<void> {
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form, submitter)) if (typeof value === 'string') body.append(name, value);
  const signal = AbortSignal.timeout(GIVE_UP_MS);
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(form.action, { method: 'POST', body, signal });
    text = await answer.text();
  } catch {
    return page.onLost();
  }
  try {
    page.show(new DOMParser().parseFromString(text, 'text/html'), Date.now());
    // The address of a refused form is no page to return to.
    if (answer.redirected) history.replaceState(null, '', page.path());
  } catch {
    // For example after too many requests: the page itself says so, and when to try again.
    location.assign(page.path());
  }
}
