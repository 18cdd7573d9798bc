import { Type, type Static } from 'typebox';
import { oneOf } from '../../fields.ts';
import { nullable, time } from '../../shapes.ts';
import type { Contracts } from './route.ts';
import { paymentRowShape } from './payments.ts';
import { modeParams } from './shape.ts';

const figure = Type.Object({
  /** Decimal text; null where there is nothing to say it of. */
  value: nullable(Type.String()),
  /** The same of as long before. */
  before: nullable(Type.String()),
});

const homeShape = Type.Object({
  from: time(),
  until: time(),
  /** In `currency`, decimal text. */
  currency: Type.Literal('USD'),
  volume: figure,
  completed: figure,
  /** A share from 0 to 1. */
  conversion: figure,
  /** By UTC day or the zone asked for, the oldest first. */
  days: Type.Array(Type.Object({ day: Type.String(), volume: Type.String(), completed: Type.Integer() })),
  latest: Type.Array(paymentRowShape),
});
export type HomeView = Static<typeof homeShape>;

export const homeContract = {
  'GET /dashboard/api/projects/:project/:mode/home': {
    params: modeParams,
    query: Type.Object({
      period: Type.Optional(oneOf(['7d', '30d', '90d'])),
      /** Whose days: an IANA zone. */
      zone: Type.Optional(Type.String({ maxLength: 64 })),
    }),
    answer: homeShape,
  },
} as const satisfies Contracts;
