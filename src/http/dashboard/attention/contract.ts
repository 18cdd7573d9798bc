import { Type, type Static } from 'typebox';
import { ATTENTION_KINDS } from '../../../domain/attention.ts';
import { NETWORK_PROBLEMS } from '../../../domain/network-problem.ts';
import { oneOf, text } from '../../fields.ts';
import { nullable, time } from '../../shapes.ts';
import { type Contracts, modeParams } from '../contract-parts.ts';

const personShape = Type.Object({ id: Type.String(), email: Type.String() });

const itemShape = Type.Object({
  kind: oneOf(ATTENTION_KINDS),
  /** Names the occurrence together with `kind`; another fault of the same subject has another `occurrence`. */
  subject: Type.String(),
  occurrence: Type.String(),
  /** The same as long as it is the same thing. */
  identity: Type.String(),
  /** Its number among all that were noticed, which grows; null: not noticed yet. */
  noticed: nullable(Type.Integer()),
  at: nullable(time()),
  /** The payment as its API writes the id, and what the merchant calls it. */
  payment: nullable(Type.Object({ id: Type.String(), name: nullable(Type.String()) })),
  /** The amount that is missing, too much, late or to be paid back. Decimal text. */
  amount: nullable(Type.String()),
  asset: nullable(Type.String()),
  network: nullable(Type.String()),
  until: nullable(time()),
  usd: nullable(Type.String()),
  url: nullable(Type.String()),
  detail: nullable(Type.String()),
  /** Only for a network that is not followed. */
  problem_kind: nullable(oneOf(NETWORK_PROBLEMS)),
  /** The command to run on the server, where no page does the same. */
  command: nullable(Type.String()),
  /** For a changed wallet: who did it, and both wallets with both ends of their keys. For a key: who made it. */
  change: nullable(
    Type.Object({
      by: Type.Object({ kind: oneOf(['person', 'command', 'key', 'service'] as const), name: Type.String() }),
      before: nullable(Type.String()),
      after: Type.String(),
    }),
  ),
  assigned_to: nullable(personShape),
  note: nullable(Type.String()),
  /** The version of people's notes on it; 0: nothing yet. */
  version: Type.Integer(),
});
export type AttentionView = Static<typeof itemShape>;

const listShape = Type.Object({
  /** The newest first, at most 100. */
  data: Type.Array(itemShape),
  /** Whether there are more. */
  has_more: Type.Boolean(),
  /** Who can be assigned. */
  people: Type.Array(personShape),
});

const ATTENTION = '/dashboard/api/projects/:project/:mode/attention';

export const attentionContract = {
  [`GET ${ATTENTION}`]: { params: modeParams, answer: listShape },
  [`GET ${ATTENTION}/count`]: {
    params: modeParams,
    answer: Type.Object({
      /** At most 100. */
      count: Type.Integer(),
      /** The number of the newest that was noticed; 0: none is there. */
      newest: Type.Integer(),
      /** Items that were not noticed yet, by `identity`: each gets a number within seconds. */
      unnoticed: Type.Array(Type.String()),
    }),
  },
  /** Assigns, notes or marks as done; what is left out stays. 409 if it is over or of another version meanwhile. */
  [`POST ${ATTENTION}/mark`]: {
    params: modeParams,
    body: Type.Object({
      kind: oneOf(ATTENTION_KINDS),
      subject: text({ max: 64, min: 1 }),
      occurrence: text({ max: 128, min: 1 }),
      version: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
      assigned_to: Type.Optional(nullable(text({ max: 64 }))),
      note: Type.Optional(text({ max: 2_000 })),
      done: Type.Optional(Type.Boolean()),
    }),
    answer: listShape,
  },
} as const satisfies Contracts;
