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

/** Something that this process did and that is committed. */
export type Activity =
  /** New payments, each with its events. */
  | { readonly kind: 'payments_created'; readonly changes: readonly PaymentChange[] }
  /** How many of them one batch saved, and how long the database took, in seconds. */
  | { readonly kind: 'batch_saved'; readonly payments: number; readonly seconds: number }
  /** `requestId`: of the request that caused it; null if a timer or a chain did. */
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
  /** Disabled by its own answer. */
  | { readonly kind: 'endpoint_disabled'; readonly endpoint: Delivery['endpoint']; readonly reason: string }
  /** Blocks above `toHeight` are no longer on the chain. `payments`: how many had money in them. */
  | {
      readonly kind: 'chain_rolled_back';
      readonly network: Network;
      readonly fromHeight: number;
      readonly toHeight: number;
      readonly payments: number;
    }
  /** A sign-in or reauthentication was wrong or came too often. `personId` is null for an unknown e-mail. */
  | {
      readonly kind: 'guess_refused';
      readonly what: 'sign-in' | 'proof';
      readonly reason: string;
      readonly personId: string | null;
      readonly client: string;
      readonly requestId: string | null;
    }
  /** Money on an address that this database never handed out, per project that uses the wallet. */
  | { readonly kind: 'money_lost'; readonly projectId: string; readonly network: Network; readonly lost: LostMoney }
  /**
   * Sweep calls for deposit contracts were prepared; the merchant sends them. `swept`: deposits that were paid and hold
   * nothing any more, which is all that is ever known of the end of a sweep.
   */
  | {
      readonly kind: 'sweep_planned';
      readonly projectId: string;
      readonly network: Network;
      readonly deposits: number;
      readonly calls: number;
      readonly swept: number;
    };

/** Receives what this process did, once it is committed, for metrics and the log. Must not block or throw. */
export type Observer = (activity: Activity) => void;
