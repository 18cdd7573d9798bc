import type { Network } from '../domain/networks.ts';
import type { RefundEventType } from '../domain/event-type.ts';
import type { LostMoney } from '../domain/lost-money.ts';
import type { Refund } from '../domain/refund.ts';
import type { Delivery } from '../store/webhooks/deliveries.ts';
import type { AttemptRecord } from '../store/webhooks/delivery-attempts.ts';
import type { PaymentChange } from '../store/payments/save-changes.ts';

/** The outcome of one delivery attempt: acknowledged, answered with another status, or no complete answer. */
export type AttemptOutcome = 'delivered' | 'rejected' | 'no_answer';
export const ATTEMPT_OUTCOMES = ['delivered', 'rejected', 'no_answer'] as const satisfies readonly AttemptOutcome[];

/** A committed action of this process. */
export type Activity =
  /** New payments, each with its events. */
  | { readonly kind: 'payments_created'; readonly changes: readonly PaymentChange[] }
  /** The number of payments that one batch saved, and the time that the database took, in seconds. */
  | { readonly kind: 'batch_saved'; readonly payments: number; readonly seconds: number }
  /** `requestId` is the request that caused the change; null if a timer or a chain did. */
  | { readonly kind: 'payment_changed'; readonly change: PaymentChange; readonly requestId: string | null }
  /** A refund was created or has a new status; the event is one of its payment's. */
  | {
      readonly kind: 'refund_changed';
      readonly refund: Refund;
      readonly event: RefundEventType;
      readonly requestId: string | null;
    }
  | {
      readonly kind: 'delivery_attempted';
      readonly delivery: Delivery;
      readonly record: AttemptRecord;
      readonly outcome: AttemptOutcome;
    }
  /** The endpoint's own answer disabled it. */
  | { readonly kind: 'endpoint_disabled'; readonly endpoint: Delivery['endpoint']; readonly reason: string }
  /**
   * Blocks above `toHeight` are no longer on the chain. `payments` is the number of payments that had money in them.
   */
  | {
      readonly kind: 'chain_rolled_back';
      readonly network: Network;
      readonly fromHeight: number;
      readonly toHeight: number;
      readonly payments: number;
    }
  /** A sign-in or reauthentication failed or came too often. `personId` is null for an unknown e-mail. */
  | {
      readonly kind: 'guess_refused';
      readonly what: 'sign-in' | 'proof';
      readonly reason: string;
      readonly personId: string | null;
      readonly client: string;
      readonly requestId: string | null;
    }
  /** Money on an address that this database never handed out, for each project that uses the wallet. */
  | { readonly kind: 'money_lost'; readonly projectId: string; readonly network: Network; readonly lost: LostMoney }
  /**
   * Sweep calls for deposit contracts were prepared; the merchant sends them. `swept` counts deposits that were paid
   * and are empty now, the only sign that a sweep has ended.
   */
  | {
      readonly kind: 'sweep_planned';
      readonly projectId: string;
      readonly network: Network;
      readonly deposits: number;
      readonly calls: number;
      readonly swept: number;
    };

/** Receives committed activities for metrics and the log. Must not block or throw. */
export type Observer = (activity: Activity) => void;
