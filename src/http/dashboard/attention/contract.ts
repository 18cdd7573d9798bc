import { Type, type Static } from 'typebox';
import { ATTENTION_KINDS } from '../../../domain/attention.ts';
import { NETWORK_PROBLEMS } from '../../../domain/network-problem.ts';
import { oneOf, text, nullable, time } from '../../fields.ts';
import { type Contracts, modeParams, namedPersonShape } from '../contract-parts.ts';

const itemShape = Type.Object({
  kind: oneOf(ATTENTION_KINDS),
  /** Together with `kind`, identifies the occurrence; another fault of the same subject has another `occurrence`. */
  subject: Type.String(),
  occurrence: Type.String(),
  /** The same for as long as the item is the same. */
  identity: Type.String(),
  /** Its increasing number among all noticed items; null: not noticed yet. */
  noticed: nullable(Type.Integer()),
  at: nullable(time()),
  /** The payment's id in the form of its API, and the merchant's name for it. */
  payment: nullable(Type.Object({ id: Type.String(), name: nullable(Type.String()) })),
  /** The amount that is missing, too much, late or to be paid back. Decimal text. */
  amount: nullable(Type.String()),
  asset: nullable(Type.String()),
  network: nullable(Type.String()),
  until: nullable(time()),
  usd: nullable(Type.String()),
  /** The value of `amount` in the payment's currency, at its rate. */
  worth: nullable(Type.Object({ amount: Type.String(), currency: Type.String() })),
  url: nullable(Type.String()),
  detail: nullable(Type.String()),
  /** Only for a network that is not followed. */
  problem_kind: nullable(oneOf(NETWORK_PROBLEMS)),
  /** The command to run on the server if no page does the same. */
  command: nullable(Type.String()),
  /** For a changed wallet: the actor, and both wallets with both ends of their keys. For a key: its maker. */
  change: nullable(
    Type.Object({
      by: Type.Object({ kind: oneOf(['person', 'command', 'key', 'service'] as const), name: Type.String() }),
      before: nullable(Type.String()),
      after: Type.String(),
    }),
  ),
  assigned_to: nullable(namedPersonShape),
  note: nullable(Type.String()),
  /** The version of people's notes on it; 0: nothing yet. */
  version: Type.Integer(),
});
export type AttentionView = Static<typeof itemShape>;

const listShape = Type.Object({
  /** Newest first, at most 100. */
  data: Type.Array(itemShape),
  /** Whether there are more. */
  has_more: Type.Boolean(),
  /** The people who can be assigned. */
  people: Type.Array(namedPersonShape),
});

/** The list has no more. */
const MAX_LISTED = 100;

const ATTENTION = '/dashboard/api/projects/:project/:mode/attention';

/** Identifies an item, in the version that the person saw, and says what changes; absent fields stay as they are. */
const markFields = {
  kind: oneOf(ATTENTION_KINDS),
  subject: text({ max: 64, min: 1 }),
  occurrence: text({ max: 128, min: 1 }),
  version: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
  assigned_to: Type.Optional(nullable(text({ max: 64 }))),
  done: Type.Optional(Type.Boolean()),
};

export const attentionContract = {
  [`GET ${ATTENTION}`]: { params: modeParams, answer: listShape },
  [`GET ${ATTENTION}/count`]: {
    params: modeParams,
    answer: Type.Object({
      /** At most 100. */
      count: Type.Integer(),
      /** The highest number of a noticed item; 0 if there is none. */
      newest: Type.Integer(),
      /** Items that were not noticed yet, by `identity`: each gets a number within seconds. */
      unnoticed: Type.Array(Type.String()),
    }),
  },
  /**
   * Assigns, notes or marks as done; absent fields stay as they are. 409 if the item is over or has another version
   * meanwhile.
   */
  [`POST ${ATTENTION}/mark`]: {
    params: modeParams,
    body: Type.Object({ ...markFields, note: Type.Optional(text({ max: 2_000 })) }),
    answer: listShape,
  },
  /** The same for several items, as far as possible. `failed` are those that stayed as they were, by `identity`. */
  [`POST ${ATTENTION}/mark-many`]: {
    params: modeParams,
    body: Type.Object({ items: Type.Array(Type.Object(markFields), { minItems: 1, maxItems: MAX_LISTED }) }),
    answer: Type.Object({
      list: listShape,
      /** `over`: the reason of the item is no more; `changed`: somebody changed it meanwhile. */
      failed: Type.Array(Type.Object({ identity: Type.String(), reason: oneOf(['over', 'changed'] as const) })),
    }),
  },
} as const satisfies Contracts;
