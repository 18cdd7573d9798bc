import {
  addUpHours,
  changedHours,
  HOUR_MS,
  hoursWithPayments,
  isUpToDate,
  lockFiguresProgress,
  nextHours,
  saveFiguresProgress,
  transitionsNow,
  type FigureHour,
} from '../../store/figures/figure-slots.ts';
import type { App } from '../context.ts';
import { inTransaction } from '../in-transaction.ts';

/**
 * An hour counts as over so long after its end: payments get their time before they are saved, by the clock of their
 * process. Creating one takes seconds at most.
 */
const CLOSED_AFTER_MS = 10 * 60_000;
const MAX_TRANSITIONS = 20_000;
const MAX_PAYMENTS = 20_000;
const MAX_HOURS = 24 * 30;
const HOURS_A_STATEMENT = 200;

/**
 * Adds up the figures of hours that are over, and again those of hours whose payments changed since. Payments are only
 * read: which changed, their transitions say. Returns true if there may be more to do at once. One process at a time
 * does it; the others return.
 */
export async function addUpFigures(app: App): Promise<boolean> {
  const over = Math.floor((app.clock() - CLOSED_AFTER_MS) / HOUR_MS) * HOUR_MS;
  if (await isUpToDate(app.db, over)) return false;
  return inTransaction(app, async (trx) => {
    const progress = await lockFiguresProgress(trx);
    if (progress === null) return false;
    const { newest, oldestXid, ownXid } = await transitionsNow(trx);
    // Whoever took an id before `newest` was noted had a transaction id by then, smaller than that of any begun since.
    const endedBefore = progress.newest === null ? null : (progress.endedBefore ?? ownXid);
    const isSettled = endedBefore !== null && oldestXid >= endedBefore;
    const takenIn = isSettled ? progress.newest : progress.takenIn;
    let noted = isSettled || progress.newest === null ? newest : progress.newest;
    let { closedUntil } = progress;
    if (progress.takenIn !== null && closedUntil !== null && newest > progress.takenIn) {
      // Once more up to the one that was noted: what came late has been saved since.
      const limits = { after: progress.takenIn, before: closedUntil, limit: MAX_TRANSITIONS };
      const { hours, upTo } = await changedHours(trx, limits);
      await addUp(hours);
      if (isSettled && upTo !== null && upTo < noted) noted = upTo;
    }
    if (takenIn !== null && (closedUntil === null || closedUntil < over)) {
      const next = await nextHours(trx, closedUntil, { maxPayments: MAX_PAYMENTS, maxHours: MAX_HOURS });
      closedUntil = next === null ? over : Math.min(next.until, over);
      if (next !== null && next.from < over) await addUp(await hoursWithPayments(trx, next.from, closedUntil));
    }
    await saveFiguresProgress(trx, {
      closedUntil,
      takenIn,
      newest: noted,
      endedBefore: isSettled ? null : endedBefore,
    });
    return closedUntil !== null && closedUntil < over;

    async function addUp(hours: readonly FigureHour[]): Promise<void> {
      for (let start = 0; start < hours.length; start += HOURS_A_STATEMENT) {
        await addUpHours(trx, hours.slice(start, start + HOURS_A_STATEMENT));
      }
    }
  });
}
