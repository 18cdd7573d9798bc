import { Type, type Static } from 'typebox';
import { AUDIT_GROUPS } from '../../../domain/audit-group.ts';
import { oneOf, text, nullable, time } from '../../fields.ts';
import { type Contracts, namedPersonShape, projectParams, keysetQuery, writing } from '../contract-parts.ts';

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
    /** The name of the person as it is now; null: none, or no person. */
    person_name: nullable(Type.String()),
  }),
  /** An action such as `wallet.set`. */
  action: Type.String(),
  project: nullable(Type.String()),
  /** The subject of the change, such as a `person`, with its id. */
  subject: Type.Object({ kind: Type.String(), id: nullable(Type.String()) }),
  before: values,
  after: values,
  /** The client's address; null from the command line. */
  ip: nullable(Type.String()),
});
export type AuditEntryView = Static<typeof entryShape>;

const list = Type.Object({
  data: Type.Array(entryShape),
  next: nullable(Type.String()),
  /** The people to filter by, besides kinds of actors. */
  people: Type.Array(namedPersonShape),
});

export const ACTOR_KINDS = ['person', 'command', 'key', 'service'] as const;

const filters = {
  /** The id of a person or key, or a kind of actors. */
  who: Type.Optional(text({ max: 64, min: 1 })),
  what: Type.Optional(oneOf(AUDIT_GROUPS)),
  /** ISO 8601 times; `before` is exclusive. */
  from: Type.Optional(text({ max: 40 })),
  before: Type.Optional(text({ max: 40 })),
};
const filtersShape = Type.Object(filters);
export type AuditFilters = Static<typeof filtersShape>;
const query = Type.Object({ ...filters, ...keysetQuery });

const exportShape = Type.Object({
  ...filters,
  ...writing,
});

/** Newest first. */
export const auditContract = {
  'GET /dashboard/api/audit': { query, answer: list },
  'GET /dashboard/api/projects/:project/audit': { params: projectParams, query, answer: list },
  /** An export of the entries that match the filters. 503 while no slot for exports is free. */
  'POST /dashboard/api/audit/export': { body: exportShape, answer: Type.String() },
  'POST /dashboard/api/projects/:project/audit/export': {
    params: projectParams,
    body: exportShape,
    answer: Type.String(),
  },
} as const satisfies Contracts;
