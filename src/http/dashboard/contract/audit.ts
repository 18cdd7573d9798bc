import { Type, type Static } from 'typebox';
import { nullable, time } from '../../shapes.ts';
import type { Contracts } from './route.ts';
import { keysetQuery, projectParams } from './shape.ts';

/** The changed fields, without secrets. */
const values = Type.Unsafe<Readonly<Record<string, unknown>> | null>({});

const entryShape = Type.Object({
  id: Type.String(),
  at: time(),
  /** `person`: named by the e-mail at that time; `command`: the operator at the command line; `key`: an API key. */
  actor: Type.Object({
    kind: Type.Unsafe<'person' | 'command' | 'key' | 'service'>({ type: 'string' }),
    id: nullable(Type.String()),
    name: Type.String(),
  }),
  /** Such as `wallet.set`. */
  action: Type.String(),
  project: nullable(Type.String()),
  /** What was changed, such as a `person`, with its id. */
  subject: Type.Object({ kind: Type.String(), id: nullable(Type.String()) }),
  before: values,
  after: values,
  /** The client's address; null from the command line. */
  ip: nullable(Type.String()),
});
export type AuditEntryView = Static<typeof entryShape>;

const list = Type.Object({ data: Type.Array(entryShape), next: nullable(Type.String()) });
const query = Type.Object(keysetQuery);

/** Newest first. */
export const auditContract = {
  'GET /dashboard/api/audit': { query, answer: list },
  'GET /dashboard/api/projects/:project/audit': { params: projectParams, query, answer: list },
} as const satisfies Contracts;
