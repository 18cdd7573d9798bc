import { expect, it } from 'vitest';
import { nextReminder, presentReminder } from './invoice-reminders.ts';

const DUE_ON = '2026-03-01';
const at = (text: string): number => Date.parse(text);
const BEFORE = at('2026-02-26T08:00:00Z');
const AFTER = at('2026-03-04T08:00:00Z');

it('reminders come three days before and three days after the due date, in the morning', () => {
  expect(nextReminder(DUE_ON, at('2026-01-01T00:00:00Z'))).toBe(BEFORE);
  expect(nextReminder(DUE_ON, BEFORE - 1)).toBe(BEFORE);
  expect(nextReminder(DUE_ON, BEFORE)).toBe(AFTER);
  expect(nextReminder(DUE_ON, AFTER - 1)).toBe(AFTER);
  expect(nextReminder(DUE_ON, AFTER)).toBeNull();
});

it('a reminder is sent from its time on, for three days', () => {
  const DAY_MS = 86_400_000;
  const cases = [
    [BEFORE - 1, null],
    [BEFORE, 'due'],
    [BEFORE + 3 * DAY_MS - 1, 'due'],
    [BEFORE + 3 * DAY_MS, null],
    [AFTER - 1, null],
    [AFTER, 'overdue'],
    [AFTER + 3 * DAY_MS - 1, 'overdue'],
    [AFTER + 3 * DAY_MS, null],
  ] as const;
  for (const [now, reminder] of cases) expect([now, presentReminder(DUE_ON, now)]).toEqual([now, reminder]);
});
