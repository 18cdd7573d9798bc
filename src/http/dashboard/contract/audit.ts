import { Type, type Static } from 'typebox';
import { nullable, time } from '../../shapes.ts';
import type { Contracts } from './route.ts';
import { keysetQuery, projectParams } from './shape.ts';

/** Field by field, secrets left out. */
const values = Type.Unsafe<Readonly<Record<string, unknown>> | null>({});

const entryShape = Type.Object({
  id: Type.String(),
  at: time(),
  /** `person`: by its e-mail at that time; `command`: the operator at the command line; `key`: by its id and name. */
  actor: Type.Object({
    kind: Type.Unsafe<'person' | 'command' | 'key' | 'service'>({ type: 'string' }),
    id: nullable(Type.String()),
    name: Type.String(),
  }),
  /** Such as `wallet.set`. */
  action: Type.String(),
  project: nullable(Type.String()),
  /** What was changed, such as `person` and its id. */
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
