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
 * An hour is closed this long after its end: a payment gets its time from its process's clock before it is saved, and
 * creating it takes seconds at most.
 */
const CLOSED_AFTER_MS = 10 * 60_000;
const MAX_TRANSITIONS = 20_000;
const MAX_PAYMENTS = 20_000;
const MAX_HOURS = 24 * 30;
const HOURS_A_STATEMENT = 200;

/**
 * Adds up the figures of closed hours, and again those of hours whose payments changed since. Payments are only read;
 * their transitions tell which changed. Returns true if more may be due at once. One process at a time does this; the
 * others return.
 */
export async function addUpFigures(app: App): Promise<boolean> {
  const over = Math.floor((app.clock() - CLOSED_AFTER_MS) / HOUR_MS) * HOUR_MS;
  if (await isUpToDate(app.db, over)) return false;
  return inTransaction(app, async (trx) => {
    const progress = await lockFiguresProgress(trx);
    if (progress === null) return false;
    const { newest, oldestXid, ownXid } = await transitionsNow(trx);
    // Every transaction that could still commit an id ≤ `newest` has an xid < `endedBefore`.
    const endedBefore = progress.newest === null ? null : (progress.endedBefore ?? ownXid);
    const isSettled = endedBefore !== null && oldestXid >= endedBefore;
    const takenIn = isSettled ? progress.newest : progress.takenIn;
    let noted = isSettled || progress.newest === null ? newest : progress.newest;
    let { closedUntil } = progress;
    if (progress.takenIn !== null && closedUntil !== null && newest > progress.takenIn) {
      // A second pass up to the noted id: transactions that were late have committed since.
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
