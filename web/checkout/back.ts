import type { Translate } from './texts.ts';

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
