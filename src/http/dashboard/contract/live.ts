import { Type, type Static } from 'typebox';
import type { Contracts } from './route.ts';
import { modeParams } from './shape.ts';

/** One message of the stream (`data:` of a server-sent event): what changed, not how; ask anew for it. */
export const liveMessageShape = Type.Union([
  Type.Object({ kind: Type.Literal('payment'), id: Type.String() }),
  /** After a silence in which anything may have changed. */
  Type.Object({ kind: Type.Literal('anything') }),
  /** The session is over, or its role: ask for the session. */
  Type.Object({ kind: Type.Literal('session') }),
  Type.Object({ kind: Type.Literal('version'), version: Type.String() }),
]);
export type LiveMessage = Static<typeof liveMessageShape>;

export const liveContract = {
  /** Server-sent events, one stream a tab. */
  'GET /dashboard/api/projects/:project/:mode/events': { params: modeParams, answer: liveMessageShape },
} as const satisfies Contracts;
