import { setTimeout as sleep } from 'node:timers/promises';
import { CommandFailure, reasonOf } from '../failure.ts';
import { readLog, type LogEntry } from './log.ts';
import { Refused, Unreachable, type Service } from './service.ts';

export interface Following {
  readonly after: string;
  readonly types?: string | undefined;
  /** Ends the following. */
  readonly stopped: AbortSignal;
  readonly onEntry: (entry: LogEntry) => Promise<void> | void;
  /** Everything up to here was read; some of it may have been left out by `types`. */
  readonly onPage?: (next: string) => void;
  /** Tells the person what happens to the connection. */
  readonly say: (line: string) => void;
}

const PAGE = 100;
const WAIT_SECONDS = 25;
const MIN_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
/** So many answers in a minute come as soon as they can; more wait, and leave the key's requests to others. */
const QUICK_ANSWERS = 20;
const PACE_MS = 2_000;
const MINUTE_MS = 60_000;
const SLEEP_CHECK_MS = 5_000;
/** Longer than a busy machine holds up a timer. */
const ASLEEP_MS = 30_000;

/**
 * Reads the log and waits for more until it is stopped. A lost network, a service that restarts, a machine that slept
 * and a key that is refused are told once, and it goes on.
 */
export async function followLog(service: Service, following: Following): Promise<void> {
  const { stopped, onEntry, onPage, say, types } = following;
  let { after } = following;
  let failures = 0;
  let told = '';
  const answers: number[] = [];
  while (!stopped.aborted) {
    const woken = untilWoken(stopped);
    try {
      const page = await readLog(service, {
        after,
        limit: PAGE,
        types,
        waitSeconds: WAIT_SECONDS,
        signal: AbortSignal.any([stopped, woken.signal]),
      });
      if (told !== '') say('Connected again.');
      [failures, told] = [0, ''];
      for (const entry of page.entries) {
        if (stopped.aborted) return;
        await onEntry(entry);
      }
      // The last entry may have been left for the next run.
      if (stopped.aborted) return;
      // An event whose position is still being given names no place yet.
      if (page.next.startsWith('evt_')) await pauseFor(MIN_PAUSE_MS, stopped);
      // A full page is followed by the next one at once.
      else if (page.entries.length < PAGE && isBusy(answers)) await pauseFor(PACE_MS, stopped);
      after = page.next;
      onPage?.(after);
    } catch (error) {
      if (stopped.aborted) return;
      if (woken.signal.aborted) say(`This machine was asleep for ${woken.minutes()}. Reading what happened meanwhile.`);
      else if (error instanceof Refused && error.status === 410) {
        say(error.message);
        after = 'start';
      } else {
        const reason = passing(error);
        if (reason !== told) say(`${reason} Trying again until it works.`);
        told = reason;
        const pause = Math.min(MAX_PAUSE_MS, MIN_PAUSE_MS * 2 ** failures);
        failures += 1;
        await pauseFor(Math.max(pause, error instanceof Refused ? error.retryAfterMs : 0), stopped);
      }
    } finally {
      woken.end();
    }
  }
}

/** Notes an answer, and whether there were many in the last minute. */
function isBusy(answers: number[]): boolean {
  answers.push(performance.now());
  if (answers.length <= QUICK_ANSWERS) return false;
  const [first = 0] = answers.splice(0, 1);
  return performance.now() - first < MINUTE_MS;
}

/** Why it is tried again. @throws the error if trying again cannot help */
function passing(error: unknown): string {
  if (error instanceof Unreachable) return error.message;
  if (!(error instanceof Refused)) throw error;
  const { status, message } = error;
  if (status === 401 || status === 403) return `The service refuses the key: ${message}`;
  if (status === 408 || status === 429 || status >= 500) return message;
  throw message.startsWith('after ')
    ? new CommandFailure(`${message} Begin elsewhere with --since.`, { cause: error })
    : error;
}

/** Waits, or until it is stopped. */
export async function pauseFor(ms: number, stopped: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal: stopped });
  } catch (error) {
    if (!stopped.aborted) throw new Error(reasonOf(error), { cause: error });
  }
}

/** Aborts once the machine has slept: its connections may be dead without knowing it. */
function untilWoken(stopped: AbortSignal) {
  const woken = new AbortController();
  let last = Date.now();
  let asleepMs = 0;
  const timer = setInterval(() => {
    asleepMs = Date.now() - last - SLEEP_CHECK_MS;
    last = Date.now();
    if (asleepMs > ASLEEP_MS && !stopped.aborted) woken.abort();
  }, SLEEP_CHECK_MS);
  return {
    signal: woken.signal,
    minutes: () =>
      asleepMs < 90_000 ? `${Math.round(asleepMs / 1_000)} seconds` : `${Math.round(asleepMs / 60_000)} minutes`,
    end: () => clearInterval(timer),
  };
}
