import type { Translate } from './texts.ts';
import { formatCountdown, pollWhenDue, type Due } from './timing.ts';

export interface Clock {
  /**
   * Measures how far the reader's clock is off. Both in epoch ms: the server's, and the reader's when the answer
   * arrived.
   */
  sync(serverNow: number, receivedAt: number): void;
  /** Draws the times of the page, and keeps its countdowns running. */
  draw(): void;
}

/** Countdowns by the server's clock, and times in the reader's zone. `onDue` is called when a deadline has passed. */
export function startClock(language: string, translate: Translate, onDue: () => void): Clock {
  let offsetMs = 0;
  let due: Due | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const now = () => Date.now() + offsetMs;
  const tick = () => {
    clearTimeout(timer);
    const countdowns = document.querySelectorAll<HTMLElement>('[data-countdown]');
    let next = 1_000;
    for (const element of countdowns) {
      const deadlineAt = Number(element.dataset['countdown']);
      const remaining = deadlineAt - now();
      const text = formatCountdown(remaining, language);
      if (element.textContent !== text) element.textContent = text;
      if (remaining > 0) next = Math.min(next, remaining % 1_000 || 1_000);
      else showOverdue(element);
      // Nobody sees a hidden page; it is polled when it is shown again.
      const asked = document.hidden ? null : pollWhenDue(due, deadlineAt, now());
      if (asked === null) continue;
      due = asked;
      onDue();
    }
    if (countdowns.length > 0) timer = setTimeout(tick, next);
  };
  document.addEventListener('visibilitychange', tick);

  return {
    sync: (serverNow, receivedAt) => {
      if (serverNow > 0) offsetMs = serverNow - receivedAt;
    },
    draw: () => {
      drawLocalTimes(language, translate, now());
      tick();
    },
  };
}

/** Shows that the page no longer asks for money, even if the service cannot be reached to say so. */
function showOverdue(countdown: Element): void {
  const card = countdown.closest('.card');
  card?.classList.add('overdue');
  for (const note of card?.querySelectorAll<HTMLElement>('[data-overdue]') ?? []) note.hidden = false;
}

/** When the first byte of the page arrived, in epoch ms of the reader's clock: `data-now` was written just before. */
export function pageReceivedAt(): number {
  const [navigation] = performance.getEntriesByType('navigation');
  const sinceMs = navigation instanceof PerformanceNavigationTiming ? performance.now() - navigation.responseStart : 0;
  return Date.now() - sinceMs;
}

/** The server writes UTC; a time that is not on the reader's current day gets a date. */
export function drawLocalTimes(language: string, translate: Translate, now = Date.now()): void {
  const time = new Intl.DateTimeFormat(language, { timeStyle: 'short' });
  const dateTime = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
  const receipt = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'long' });
  for (const element of document.querySelectorAll<HTMLTimeElement>('time[data-local]')) {
    const at = new Date(element.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    const isToday = at.toDateString() === new Date(now).toDateString();
    const kind = element.dataset['local'];
    element.textContent = (kind === 'receipt' ? receipt : kind === 'time' && isToday ? time : dateTime).format(at);
  }
  // The note that times are in UTC is no longer true.
  for (const note of document.querySelectorAll('[data-zone]')) note.textContent = translate('local_time');
}
