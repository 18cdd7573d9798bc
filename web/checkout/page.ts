import { returnToShop } from './back.ts';
import { drawLocalTimes, pageReceivedAt, startClock } from './clock.ts';
import { copyOnClick } from './copy.ts';
import { embedding, speakToShop } from './embedded.ts';
import { submitOnce } from './forms.ts';
import { closeMenus } from './menus.ts';
import { keepLive, type Follower } from './live.ts';
import { loadWhenChanged } from './refresh.ts';
import { swapLive } from './swap.ts';
import { announce, readTexts, type Translate } from './texts.ts';
import { offerWallets } from './wallets.ts';

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
  speakToShop();
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

start();
