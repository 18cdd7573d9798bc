const POLL_MS = 5_000;
/**
 * With a working stream the page is still polled occasionally: proxies may hold events back without closing anything.
 */
const CHECK_MS = 30_000;
const MAX_BACK_OFF_MS = 60_000;

/**
 * The time until the next poll, in ms. Randomised by a fifth either way, so that pages cut off by a restart do not all
 * come back in the same second. `failures` are those in a row; `random` is in [0, 1).
 */
export function pollDelayMs(streamWorks: boolean, failures: number, random: number): number {
  const base = failures > 0 ? backOffMs(failures) : streamWorks ? CHECK_MS : POLL_MS;
  return Math.round(base * (0.8 + 0.4 * random));
}

/** 5, 10, 20, 40, then 60 seconds, in ms. */
export function backOffMs(failures: number): number {
  return Math.min(MAX_BACK_OFF_MS, POLL_MS * 2 ** (failures - 1));
}

/** `m:ss`, from an hour on `h:mm:ss`, in the digits of the language. The last second is shown until it is over. */
export function formatCountdown(remainingMs: number, language: string): string {
  const seconds = Math.max(0, Math.ceil(remainingMs / 1_000));
  const write = (value: number, digits: number) =>
    new Intl.NumberFormat(language, { minimumIntegerDigits: digits, useGrouping: false }).format(value);
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor(seconds / 60) % 60;
  const head = hours > 0 ? `${write(hours, 1)}:${write(minutes, 2)}` : write(minutes, 1);
  return `${head}:${write(seconds % 60, 2)}`;
}

/** The deadline that passed, how often the page was polled since, and when it may be polled again. */
export interface Due {
  readonly deadlineAt: number;
  readonly polls: number;
  readonly nextAt: number;
}

/**
 * The action after a deadline has passed: null to wait, otherwise the state after polling now. Polls at once, then
 * after 2, 4, 8 and each further 15 seconds, as long as the server still shows this deadline.
 */
export function pollWhenDue(due: Due | null, deadlineAt: number, now: number): Due | null {
  if (now < deadlineAt) return null;
  const polls = due?.deadlineAt === deadlineAt ? due.polls : 0;
  if (due?.deadlineAt === deadlineAt && now < due.nextAt) return null;
  return { deadlineAt, polls: polls + 1, nextAt: now + Math.min(15_000, 2_000 * 2 ** polls) };
}
