import { Type, type Static } from 'typebox';
import { PAYMENT_STATUSES } from '../../../domain/status.ts';
import { oneOf } from '../../fields.ts';
import { nullable, time } from '../../shapes.ts';
import type { Contracts } from './route.ts';
import { paymentRowShape } from './payments.ts';
import { modeParams } from './shape.ts';

const figure = Type.Object({
  /** Decimal text; null if it cannot be computed. */
  value: nullable(Type.String()),
  /** The value of the equally long period before. */
  before: nullable(Type.String()),
});

/** `none`: there is nothing to report on, such as no endpoints. */
export const HEALTH_STATES = ['ok', 'warning', 'problem', 'none'] as const;

const healthLine = Type.Object({
  state: oneOf(HEALTH_STATES),
  /** How many there are, and how many of them have a problem or a warning. */
  count: Type.Integer(),
  affected: Type.Integer(),
  /** What is wrong, in English for the operator; null if nothing is, or for people who may not see it. */
  detail: nullable(Type.String()),
});
export type HealthLine = Static<typeof healthLine>;

const homeShape = Type.Object({
  /** Whole UTC days; `until` is exclusive, the end of today. */
  from: time(),
  until: time(),
  currency: Type.Literal('USD'),
  /** By day of creation and current status. `volume` is the worth of completed payments in `currency`. */
  volume: figure,
  created: figure,
  completed: figure,
  /** The share of completed payments among those that have ended, from 0 to 1. */
  conversion: figure,
  /** Every status, in the order of the state machine. */
  statuses: Type.Array(
    Type.Object({
      status: oneOf(PAYMENT_STATUSES),
      payments: Type.Integer(),
      before: Type.Integer(),
      volume: Type.String(),
    }),
  ),
  /** Every UTC day of the period, oldest first. */
  days: Type.Array(
    Type.Object({ day: Type.String(), volume: Type.String(), created: Type.Integer(), completed: Type.Integer() }),
  ),
  latest: Type.Array(paymentRowShape),
  /** Which steps are done, in either mode. Shown until the first live payment is completed. */
  first_steps: Type.Object({
    test_payment: Type.Boolean(),
    webhook: Type.Boolean(),
    /** Whether one of the project's endpoints has answered. */
    webhook_answered: Type.Boolean(),
    wallet: Type.Boolean(),
    live_key: Type.Boolean(),
    live_payment: Type.Boolean(),
  }),
  /** Networks and backups belong to the service, webhooks to the project and mode. */
  health: Type.Object({ networks: healthLine, webhooks: healthLine, backups: healthLine }),
});
export type HomeView = Static<typeof homeShape>;

export const homeContract = {
  'GET /dashboard/api/projects/:project/:mode/home': {
    params: modeParams,
    query: Type.Object({ period: Type.Optional(oneOf(['7d', '30d', '90d'])) }),
    answer: homeShape,
  },
} as const satisfies Contracts;
