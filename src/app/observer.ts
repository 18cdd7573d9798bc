import type { EventType } from '../domain/event-type.ts';
import type { PaymentChange } from '../store/save-changes.ts';
import type { App } from './context.ts';

/** What became of one attempt to deliver: acknowledged, answered otherwise, or no whole answer. */
export type AttemptOutcome = 'delivered' | 'rejected' | 'no_answer';
export const ATTEMPT_OUTCOMES = ['delivered', 'rejected', 'no_answer'] as const satisfies readonly AttemptOutcome[];

/** Told of what this process did, for metrics. Nothing waits for it, and it must not throw. */
export interface Observer {
  /** New payments were saved together; `seconds`: how long the database took. */
  readonly onBatch: (payments: number, seconds: number) => void;
  readonly onEvents: (type: EventType, count: number) => void;
  readonly onAttempt: (outcome: AttemptOutcome) => void;
}

/** Counts the events of changes that are being saved. */
export function countEvents({ observer }: Pick<App, 'observer'>, changes: readonly PaymentChange[]): void {
  if (observer === undefined) return;
  const types = Map.groupBy(
    changes.flatMap(({ events }) => events),
    ({ type }) => type,
  );
  for (const [type, events] of types) observer.onEvents(type, events.length);
}
