import type { Translate } from './texts.ts';

/** Long enough to stop it (WCAG 2.2.1); who is in a hurry takes the link. */
const SECONDS = 20;

/**
 * Leads back to the shop after a payment ended before the customer's eyes. Call it on that change alone: a page that
 * was final when it was opened is looked at for its receipt. Returns what is shown now, for screen readers, or '' when
 * there is no way back.
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
  // Going back to a page that has led away once must not lead away again.
  addEventListener('pagehide', stop, { once: true });
  line.hidden = false;
  return show();
}
