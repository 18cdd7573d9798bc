import { Type, type Static } from 'typebox';
import { NETWORKS } from '../../../domain/networks.ts';
import { oneOf } from '../../fields.ts';
import { type Contracts, modeParams } from '../contract-parts.ts';

/**
 * The `data:` of a server-sent event. It says what changed but not how: the browser requests it again. At most one
 * message a second for each payment.
 */
export const liveMessageShape = Type.Union([
  /** The id as in the payment's API. */
  Type.Object({ kind: Type.Literal('payment'), id: Type.String() }),
  /** A new payment. */
  Type.Object({ kind: Type.Literal('payment_created'), id: Type.String() }),
  /** People changed marks of attention items. */
  Type.Object({ kind: Type.Literal('attention') }),
  /** A delivery to an endpoint was attempted. */
  Type.Object({ kind: Type.Literal('deliveries') }),
  /** The money on deposits or the state of a sweep changed. Only in live mode. */
  Type.Object({ kind: Type.Literal('sweeps') }),
  /** A block of this network: payments on it have new confirmations. Only in live mode. */
  Type.Object({ kind: Type.Literal('network'), network: oneOf(NETWORKS) }),
  /** Too much changed to list, or changes may have been missed. */
  Type.Object({ kind: Type.Literal('anything') }),
  /** The session or the role in the project ended: request the session again. The last message of the stream. */
  Type.Object({ kind: Type.Literal('session') }),
  /** The first message. A page of another version should be reloaded. */
  Type.Object({ kind: Type.Literal('version'), version: Type.String() }),
]);
export type LiveMessage = Static<typeof liveMessageShape>;

export const liveContract = {
  /** Server-sent events, one stream for each tab; 503 if one person has too many. */
  'GET /dashboard/api/projects/:project/:mode/events': { params: modeParams, answer: liveMessageShape },
} as const satisfies Contracts;
