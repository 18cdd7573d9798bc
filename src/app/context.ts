import type { Clock, RandomBytes } from '../domain/clock.ts';
import { uuidV7 } from '../domain/id.ts';
import type { PaymentPolicy } from '../domain/transition.ts';
import type { Links } from '../wire/payment.ts';
import type { Database } from '../store/database.ts';
import type { Observer } from './observer.ts';
import type { RailFor } from '../modes/rail.ts';

/** What every use case works with; put together once in the composition root. */
export interface App {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly railFor: RailFor;
  readonly links: Links;
  readonly policy: PaymentPolicy;
  /** Told of what happens, for metrics. */
  readonly observer?: Observer | undefined;
}

/** A fresh identifier. */
export function newId(app: Pick<App, 'random'>, now: number): string {
  return uuidV7(now, app.random(10));
}
