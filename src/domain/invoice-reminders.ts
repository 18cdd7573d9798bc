const DAY_MS = 24 * 60 * 60_000;
/** Buyers are reminded so many days before and after the day on which an invoice is due, at this hour in UTC. */
const DAYS = 3;
const HOUR = 8;

/** A reminder, and when it is to be sent. `due`: the money is due soon; `overdue`: it was due. */
export interface Reminder {
  readonly kind: 'due' | 'overdue';
  readonly at: number;
}

function remindersOf(dueOn: string): readonly Reminder[] {
  const due = Date.parse(`${dueOn}T00:00:00Z`) + (HOUR / 24) * DAY_MS;
  return [
    { kind: 'due', at: due - DAYS * DAY_MS },
    { kind: 'overdue', at: due + DAYS * DAY_MS },
  ];
}

/** When the buyer of an invoice is reminded next, after a time; null: never again. */
export function nextReminder(dueOn: string, after: number): number | null {
  return remindersOf(dueOn).find(({ at }) => at > after)?.at ?? null;
}

/** The reminder that is to be sent now; null if it is too late for the last one, such as after a long stop. */
export function presentReminder(dueOn: string, now: number): Reminder['kind'] | null {
  const last = remindersOf(dueOn).findLast(({ at }) => at <= now);
  return last === undefined || now >= last.at + DAYS * DAY_MS ? null : last.kind;
}
