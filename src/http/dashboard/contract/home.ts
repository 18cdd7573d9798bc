import { Type, type Static } from 'typebox';
import { PAYMENT_STATUSES } from '../../../domain/status.ts';
import { oneOf } from '../../fields.ts';
import { nullable, time } from '../../shapes.ts';
import type { Contracts } from './route.ts';
import { paymentRowShape } from './payments.ts';
import { modeParams } from './shape.ts';

const figure = Type.Object({
  /** Decimal text; null where there is nothing to say it of. */
  value: nullable(Type.String()),
  /** The same of as many days before. */
  before: nullable(Type.String()),
});

/** `none`: there is nothing that could be well or ill, such as no endpoint. */
export const HEALTH_STATES = ['ok', 'warning', 'problem', 'none'] as const;

const healthLine = Type.Object({
  state: oneOf(HEALTH_STATES),
  /** How many there are, and how many of them are not well. */
  count: Type.Integer(),
  affected: Type.Integer(),
  /** What is wrong, in plain English words for the operator; null where nothing is, and for those who may not know. */
  detail: nullable(Type.String()),
});
export type HealthLine = Static<typeof healthLine>;

const homeShape = Type.Object({
  /** Whole UTC days; `until` is exclusive, the end of today. */
  from: time(),
  until: time(),
  /** In `currency`, decimal text. */
  currency: Type.Literal('USD'),
  /** Payments by their day of creation and the status that they have now. `volume` is that of the completed ones. */
  volume: figure,
  created: figure,
  completed: figure,
  /** Completed of those that are open no more: a share from 0 to 1. */
  conversion: figure,
  /** Every status, in the order of the state machine. */
  statuses: Type.Array(
    Type.Object({
      status: oneOf(PAYMENT_STATUSES),
      payments: Type.Integer(),
      before: Type.Integer(),
      /** Worth of them, in `currency`. */
      volume: Type.String(),
    }),
  ),
  /** By UTC day, the oldest first, without a gap. */
  days: Type.Array(
    Type.Object({ day: Type.String(), volume: Type.String(), created: Type.Integer(), completed: Type.Integer() }),
  ),
  latest: Type.Array(paymentRowShape),
  /** Whether each was done, in test or live mode. Show them until the first live payment was completed. */
  first_steps: Type.Object({
    test_payment: Type.Boolean(),
    webhook: Type.Boolean(),
    /** One of the project's endpoints has answered. */
    webhook_answered: Type.Boolean(),
    wallet: Type.Boolean(),
    live_key: Type.Boolean(),
    live_payment: Type.Boolean(),
  }),
  /** Networks and backups are the service's, webhooks the project's in this mode. */
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
