import { Type, type Static } from 'typebox';
import { KEY_KINDS, PERMISSIONS, SCOPES } from '../../../domain/permission.ts';
import { oneOf, text, nullable, time } from '../../fields.ts';
import { type Contracts, modeParams, modeShape, projectParams } from '../contract-parts.ts';

const actorShape = Type.Object({
  kind: Type.Unsafe<'person' | 'command' | 'key' | 'service'>({ type: 'string' }),
  name: Type.String(),
  /** The name of the person as it is now; null: none, or no person. */
  person_name: nullable(Type.String()),
});

const clientShape = Type.Object({
  /** An address, or for public keys the origin of the page; null: all others together. */
  client: nullable(Type.String()),
  user_agent: nullable(Type.String()),
  requests: Type.Integer(),
  first_seen_at: time(),
  last_seen_at: time(),
  /** Null: the client was never let in. */
  last_used_at: nullable(time()),
  /** When the allow-list last refused it. */
  last_refused_at: nullable(time()),
});

const keyShape = Type.Object({
  id: Type.String(),
  name: Type.String(),
  kind: oneOf(KEY_KINDS),
  /** Null if the key has scopes. */
  permission: nullable(oneOf(PERMISSIONS)),
  scopes: nullable(Type.Array(oneOf(SCOPES))),
  mode: modeShape,
  /** `ending`: rolled, and works until `ends_at`. */
  state: Type.Unsafe<'active' | 'ending' | 'ended'>({ type: 'string' }),
  created_at: time(),
  created_by: nullable(actorShape),
  /** Exact to the minute. */
  last_used_at: nullable(time()),
  /** When the key stops or stopped working. */
  ends_at: nullable(time()),
  ended_by: nullable(actorShape),
  /** The id of the key that replaced it. */
  replaced_by: nullable(Type.String()),
  /** The clients that used it in the last 30 days, latest first. */
  clients: Type.Array(clientShape),
});
export type KeyView = Static<typeof keyShape>;

/** The only answer that contains a key's text. */
const newKeyShape = Type.Object({ key: keyShape, text: Type.String() });

const KEYS = '/dashboard/api/projects/:project/:mode/keys';
const keyParams = Type.Object({ ...modeParams.properties, key: Type.String() });

export const keysContract = {
  /** Newest first, without keys that ended more than a year ago. `api_url` is the address of the mode's API. */
  [`GET ${KEYS}`]: {
    params: modeParams,
    answer: Type.Object({ data: Type.Array(keyShape), api_url: Type.String() }),
  },
  /** Creates a key with a permission or with scopes. */
  [`POST ${KEYS}`]: {
    params: modeParams,
    body: Type.Object({
      name: text({ max: 100, min: 1 }),
      kind: oneOf(KEY_KINDS),
      permission: Type.Optional(oneOf(PERMISSIONS)),
      scopes: Type.Optional(Type.Array(oneOf(SCOPES), { maxItems: SCOPES.length })),
    }),
    answer: newKeyShape,
  },
  /** 409 if it was rolled or revoked already. */
  [`POST ${KEYS}/:key/roll`]: {
    params: keyParams,
    body: Type.Object({ overlap_hours: Type.Integer({ minimum: 0, maximum: 168 }) }),
    answer: newKeyShape,
  },
  /** 409 if it was revoked already. */
  [`POST ${KEYS}/:key/revoke`]: { params: keyParams, answer: Type.Object({ key: keyShape }) },
} as const satisfies Contracts;

/** An address that used a secret key in the last 30 days. */
const addressShape = Type.Object({
  address: Type.String(),
  /** The names of the keys. */
  keys: Type.Array(Type.String()),
  last_seen_at: time(),
  /** Whether the list lets it in. */
  is_allowed: Type.Boolean(),
});
export type AddressView = Static<typeof addressShape>;

const accessShape = Type.Object({
  /** Addresses and CIDRs; empty: every address may use secret keys. */
  allow_ips: Type.Array(Type.String()),
  allow_origins: Type.Array(Type.String()),
  /** The client's address of this request. */
  your_address: Type.String(),
  addresses: Type.Array(addressShape),
});
export type AccessView = Static<typeof accessShape>;

const ACCESS = '/dashboard/api/projects/:project/access';
const list = Type.Array(text({ max: 300, min: 1 }), { maxItems: 200 });

/** The lists of addresses that may use keys. */
export const accessContract = {
  [`GET ${ACCESS}`]: { params: projectParams, answer: accessShape },
  /**
   * `before` is the list that was shown: 409 if somebody has changed it since. If addresses that used keys would be
   * refused, the answer lists them and nothing is saved, unless `anyway` is set.
   */
  [`POST ${ACCESS}/ips`]: {
    params: projectParams,
    body: Type.Object({ values: list, before: Type.Array(Type.String()), anyway: Type.Boolean() }),
    answer: Type.Object({ saved: Type.Boolean(), refused: Type.Array(addressShape), access: accessShape }),
  },
  [`POST ${ACCESS}/origins`]: {
    params: projectParams,
    body: Type.Object({ values: list, before: Type.Array(Type.String()) }),
    answer: Type.Object({ access: accessShape }),
  },
} as const satisfies Contracts;
