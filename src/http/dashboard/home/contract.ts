import { Type, type Static, type TSchema } from 'typebox';
import { HEALTH_FAULTS } from '../../../domain/health-fault.ts';
import { FIATS } from '../../../domain/money.ts';
import { PAYMENT_STATUSES } from '../../../domain/status.ts';
import { oneOf, text, nullable, time } from '../../fields.ts';
import { type Contracts, modeParams } from '../contract-parts.ts';
import { paymentRowShape } from '../payments/contract.ts';

const figure = Type.Object({
  /** Decimal text; null if it cannot be computed. */
  value: nullable(Type.String()),
  /** The value of the equally long period before. */
  before: nullable(Type.String()),
});

/** Periods of this many last days, and calendar months. */
export const HOME_PERIODS = ['1d', '7d', '30d', 'this_month', 'last_month', '90d', '365d'] as const;

/** `none`: there is nothing to judge, for example no endpoints. */
export const HEALTH_STATES = ['ok', 'warning', 'problem', 'none'] as const;

const healthLine = Type.Object({
  state: oneOf(HEALTH_STATES),
  /** The number of parts, and how many of them have a problem or a warning. */
  count: Type.Integer(),
  affected: Type.Integer(),
  /** Empty for people who may not see them. */
  faults: Type.Array(
    Type.Object({
      kind: oneOf(HEALTH_FAULTS),
      /** The network or the URL of the endpoint. */
      subject: nullable(Type.String()),
      /** The words of a node, an endpoint or the service, in English for the operator. */
      said: nullable(Type.String()),
      /** The start of the last good backup. */
      at: nullable(Type.String()),
      /** The number of transfers. */
      count: Type.Integer(),
    }),
  ),
});
export type HealthLine = Static<typeof healthLine>;

const compared = <Value extends TSchema>(value: Value) => Type.Object({ value, before: value });

const homeShape = Type.Object({
  /** Whole days of `zone`; `until` is exclusive, the end of the last day. */
  from: time(),
  until: time(),
  /** The days, both inclusive, such as `2026-01-31`. */
  from_day: Type.String(),
  to_day: Type.String(),
  days: Type.Integer(),
  zone: Type.String(),
  /** In `currency`, decimal text, at the rate of each payment's creation. */
  currency: oneOf(FIATS),
  /** The completed payments whose value at their time is unknown: `volume` is without them. */
  unvalued: Type.Integer(),
  /** Payments by the time of their creation, in their present state. `volume` is that of the completed ones. */
  volume: figure,
  created: figure,
  completed: figure,
  /** Completed payments as a share of those that have ended, from 0 to 1. */
  conversion: figure,
  /** Median seconds from creation to completion, exact to about one and a half percent. */
  median_seconds: compared(nullable(Type.Number())),
  /** Every status, in the order of the state machine. */
  statuses: Type.Array(
    Type.Object({
      status: oneOf(PAYMENT_STATUSES),
      payments: Type.Integer(),
      before: Type.Integer(),
      /** The worth of these payments, in `currency`. */
      volume: Type.String(),
    }),
  ),
  /** Tokens of completed payments, largest volume first. */
  tokens: Type.Array(
    Type.Object({
      asset: Type.String(),
      network: Type.String(),
      payments: Type.Integer(),
      volume: Type.String(),
      volume_before: Type.String(),
      median_seconds: nullable(Type.Number()),
    }),
  ),
  /** The sums of the completed payments' own amounts, currency by currency, nothing converted. */
  currencies: Type.Array(
    Type.Object({ currency: Type.String(), payments: Type.Integer(), amount: Type.String(), before: Type.String() }),
  ),
  /** The length of each of `points`. */
  unit: oneOf(['hour', 'day', 'week']),
  /** Oldest first, without gaps; `volume_before` is that of the same place in the range before. */
  points: Type.Array(
    Type.Object({
      from: time(),
      volume: Type.String(),
      volume_before: Type.String(),
      created: Type.Integer(),
      completed: Type.Integer(),
    }),
  ),
  latest: Type.Array(paymentRowShape),
  /** Whether each step is done, in either mode. Shown until the first live payment is completed. */
  first_steps: Type.Object({
    test_payment: Type.Boolean(),
    webhook: Type.Boolean(),
    /** Whether one of the project's endpoints has answered. */
    webhook_answered: Type.Boolean(),
    wallet: Type.Boolean(),
    /** Whether customers are told how to reach the shop. */
    support: Type.Boolean(),
    live_key: Type.Boolean(),
    live_payment: Type.Boolean(),
  }),
  /** Networks, backups and the clock belong to the service, webhooks to the project and mode. */
  health: Type.Object({ networks: healthLine, webhooks: healthLine, backups: healthLine, clock: healthLine }),
});
export type HomeView = Static<typeof homeShape>;

export const homeContract = {
  'GET /dashboard/api/projects/:project/:mode/home': {
    params: modeParams,
    /** A number of last days, or both of `from` and `to`; without either, 30 days. `zone` is UTC unless given. */
    query: Type.Object({
      period: Type.Optional(oneOf(HOME_PERIODS)),
      from: Type.Optional(text({ max: 10 })),
      to: Type.Optional(text({ max: 10 })),
      zone: Type.Optional(text({ max: 64 })),
    }),
    answer: homeShape,
  },
} as const satisfies Contracts;
