import { drawLocalTimes, pageReceivedAt, startClock } from './clock.ts';
import { embedding } from './embedded.ts';
import { submitOnce } from './forms.ts';
import { keepLive, type Follower } from './live.ts';
import { swapLive } from './swap.ts';
import { announce, readTexts, type Translate } from './texts.ts';
import { offerWallets } from './wallets.ts';
import { copyText } from '../clipboard.ts';

/** Elements that the server renders hidden because they need this script. */
const NEEDS_SCRIPT = '[data-copy], [data-copy-page], [data-print]';

/** Starts the parts of every checkout page, including the refund page. */
function start(): void {
  const translate = readTexts();
  closeMenus();
  copyOnClick(translate);
  document.addEventListener('click', (event) => {
    if (event.target instanceof Element && event.target.closest('[data-print]') !== null) print();
  });
  const live = document.getElementById('live');
  if (live !== null) return followPayment(live, translate);
  submitOnce(translate, null);
  unhide(document);
  drawLocalTimes(document.documentElement.lang, translate);
  embedding(null);
  loadWhenChanged();
}

/** Follows the payment: changes are shown as they happen. */
function followPayment(first: HTMLElement, translate: Translate): void {
  let live = first;
  let status = statusOf(live);
  let follower: Follower | null = null;
  const clock = startClock(document.documentElement.lang, translate, () => follower?.poll());
  const wallets = offerWallets(live.dataset['payment'] ?? '', translate);
  const shop = embedding(live);

  const enhance = (root: HTMLElement) => {
    unhide(root);
    clock.draw();
    wallets.draw();
    shop?.draw(root);
  };

  const show = (next: Document, receivedAt: number) => {
    const fresh = next.getElementById('live');
    if (fresh === null || fresh.dataset['payment'] !== live.dataset['payment'])
      throw new Error('the answer is not the page of this payment');
    clock.sync(Number(fresh.dataset['now']), receivedAt);
    if (looksLike(fresh, live)) return false;
    const wasFinal = live.dataset['final'] !== undefined;
    const newStatus = statusOf(fresh);
    live = swapLive(live, next, enhance);
    const isEnd = !wasFinal && live.dataset['final'] !== undefined;
    // In a frame the shop was notified instead: its page decides what to do.
    const returning =
      isEnd && shop === null && live.dataset['embed'] === undefined ? returnToShop(live, translate) : '';
    if (newStatus !== status || returning !== '') announce(`${statusOf(live)} ${returning}`.trim());
    status = newStatus;
    return true;
  };

  clock.sync(Number(live.dataset['now']), pageReceivedAt());
  enhance(live);
  const onConnection = connectionNotice(translate);
  follower = keepLive({ live: () => live, show, onConnection });
  submitOnce(translate, {
    path: () => live.dataset['page'] ?? location.href,
    show: (next, receivedAt) => {
      follower?.outdate();
      if (!show(next, receivedAt)) return;
      const notice = live.querySelector<HTMLElement>('.notice');
      if (notice === null) scrollTo(0, 0);
      else notice.scrollIntoView({ block: 'center' });
    },
    onLost: () => {
      follower?.lose();
      follower?.poll();
    },
  });
}

/** Whether the page would look the same. A notice is about the last action, so it is always shown. */
function looksLike(fresh: HTMLElement, live: HTMLElement): boolean {
  const isNotice = fresh.querySelector('.notice') !== null && fresh.dataset['stale'] === undefined;
  const same = (name: string) => fresh.dataset[name] === live.dataset[name];
  return !isNotice && same('version') && same('status') && same('stale');
}

function unhide(root: ParentNode): void {
  for (const element of root.querySelectorAll<HTMLElement>(NEEDS_SCRIPT)) element.hidden = false;
}

/** The heading and paragraph of the status, and all other text that is announced when it changes. */
function statusOf(live: HTMLElement): string {
  const title = live.querySelector('#status-title');
  const below = title?.nextElementSibling;
  return [title, below?.matches('p') ? below : null, live.querySelector('.facts > div:has([data-announce])')]
    .map((element) => element?.textContent.trim().replace(/\s+/g, ' ') ?? '')
    .filter((text) => text !== '')
    .map((text) => (/[\p{P}]$/u.test(text) ? text : `${text}.`))
    .join(' ');
}

function connectionNotice(translate: Translate): (isLost: boolean) => void {
  return (isLost) => {
    const line = document.getElementById('connection');
    if (line !== null) {
      line.textContent = isLost ? translate('offline') : '';
      line.hidden = !isLost;
    }
    announce(translate(isLost ? 'offline' : 'online'));
  };
}

/** Enough time to stop it (WCAG 2.2.1); customers in a hurry use the link. */
const SECONDS = 20;

/**
 * Leads back to the shop after a payment ended while the customer was watching. Call it only on that change: a page
 * that was final when it was opened is there to show its receipt. Returns what is shown now, for screen readers, or ''
 * if there is no way back.
 */
export function returnToShop(live: HTMLElement, translate: Translate): string {
  const link = live.querySelector<HTMLAnchorElement>('a[data-return]');
  const line = live.querySelector<HTMLElement>('[data-returning]');
  const text = live.querySelector<HTMLElement>('[data-returning-text]');
  if (link === null || line === null || text === null || !/^https?:$/.test(link.protocol)) return '';
  let seconds = SECONDS;
  const show = () => (text.textContent = translate('returning', { seconds }));
  const timer = setInterval(() => {
    seconds -= 1;
    show();
    if (seconds > 0) return;
    stop();
    location.assign(link.href);
  }, 1_000);
  const stop = () => {
    clearInterval(timer);
    line.hidden = true;
  };
  line.querySelector('[data-stay]')?.addEventListener('click', () => {
    stop();
    link.focus();
  });
  // Returning to a page that has already led away must not lead away again.
  addEventListener('pagehide', stop, { once: true });
  line.hidden = false;
  return show();
}

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

/** Closes the language menu like any other: on Escape, and on a click outside it. */
export function closeMenus(): void {
  const opened = () => document.querySelector<HTMLDetailsElement>('#languages[open]');
  document.addEventListener('click', ({ target }) => {
    const menu = opened();
    if (menu !== null && target instanceof Node && !menu.contains(target)) menu.open = false;
  });
  document.addEventListener('keydown', (event) => {
    const menu = event.key === 'Escape' ? opened() : null;
    if (menu === null) return;
    // In a shop's frame Escape would also close the payment.
    event.preventDefault();
    menu.open = false;
    menu.querySelector('summary')?.focus();
  });
}

/**
 * Polls pages without a stream that wait for something, and reloads them only when their title changes: each reload
 * would make screen readers start over.
 */
export function loadWhenChanged(): void {
  const { refresh, refreshPath } = document.querySelector('main')?.dataset ?? {};
  if (refresh === undefined || refreshPath === undefined) return;
  const wait = () => setTimeout(poll, Number(refresh) * 1_000);
  const poll = async () => {
    if ((await titleOf(refreshPath)) === document.title) wait();
    else location.replace(refreshPath);
  };
  wait();
}

/** The page's title now; this page's own title while it cannot be reached. */
async function titleOf(path: string): Promise<string> {
  try {
    const answer = await fetch(path, { cache: 'no-store' });
    return new DOMParser().parseFromString(await answer.text(), 'text/html').title;
  } catch {
    return document.title;
  }
}

start();
