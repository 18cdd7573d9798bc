import { Type, type Static } from 'typebox';
import { NETWORKS } from '../../../domain/networks.ts';
import { oneOf } from '../../fields.ts';
import type { Contracts } from './route.ts';
import { modeParams } from './shape.ts';

/**
 * One message of the stream (`data:` of a server-sent event): what changed, not how; ask anew for it. At most one a
 * second of each payment.
 */
export const liveMessageShape = Type.Union([
  /** The id as the API of the payment writes it. */
  Type.Object({ kind: Type.Literal('payment'), id: Type.String() }),
  /** It is new: lists may say so. */
  Type.Object({ kind: Type.Literal('payment_created'), id: Type.String() }),
  /** A block of this network: payments that are counted on it have other confirmations. In live mode alone. */
  Type.Object({ kind: Type.Literal('network'), network: oneOf(NETWORKS) }),
  /** So much changed, or after a silence in which anything may have changed. */
  Type.Object({ kind: Type.Literal('anything') }),
  /** The session is over, or the role in the project: ask for the session. The stream ends with it. */
  Type.Object({ kind: Type.Literal('session') }),
  /** The first message: what runs. A page of another version should load anew. */
  Type.Object({ kind: Type.Literal('version'), version: Type.String() }),
]);
export type LiveMessage = Static<typeof liveMessageShape>;

export const liveContract = {
  /** Server-sent events, one stream a tab; 503 beyond what one person may have open. */
  'GET /dashboard/api/projects/:project/:mode/events': { params: modeParams, answer: liveMessageShape },
} as const satisfies Contracts;
