import { Type, type Static } from 'typebox';
import { KEY_KINDS, PERMISSIONS, SCOPES } from '../../../domain/permission.ts';
import { ROLES } from '../../../domain/role.ts';
import { email, nullable, oneOf, time } from '../../fields.ts';
import { ownSessionShape } from '../account/contract.ts';
import { type Contracts, doneShape, idField, modeShape, roleShape } from '../contract-parts.ts';

/** People and their roles. Every route requires a role in all projects. */

const membershipShape = Type.Object({
  /** Null: all projects, including future ones. */
  project: nullable(Type.String()),
  role: roleShape,
});

const madeKeyShape = Type.Object({
  id: Type.String(),
  name: Type.String(),
  project: Type.String(),
  mode: modeShape,
  kind: oneOf(KEY_KINDS),
  /** Null if the key has scopes. */
  permission: nullable(oneOf(PERMISSIONS)),
  scopes: nullable(Type.Array(oneOf(SCOPES))),
  /** Exact to the minute. */
  last_used_at: nullable(time()),
});
export type MadeKeyView = Static<typeof madeKeyShape>;

const personShape = Type.Object({
  id: Type.String(),
  email: Type.String(),
  /** The name under which colleagues know the person. */
  name: nullable(Type.String()),
  /** `invited`: has not set a password yet. */
  state: Type.Unsafe<'active' | 'invited' | 'deactivated'>({ type: 'string' }),
  memberships: Type.Array(membershipShape),
  has_second_factor: Type.Boolean(),
  /** The keys that they made and that still work, where the reader may see keys. */
  keys: Type.Array(madeKeyShape),
  /** How many more there are in projects whose keys the reader may not see. */
  keys_elsewhere: Type.Integer(),
  created_at: time(),
  last_seen_at: nullable(time()),
});
export type PersonView = Static<typeof personShape>;

const projectField = Type.Optional(nullable(idField));
const personBody = Type.Object({ id: idField });
const personParams = Type.Object({ person: Type.String() });
const rolesField = Type.Array(roleShape, { maxItems: ROLES.length });
const personAnswer = Type.Object({ person: personShape });
const linkAnswer = Type.Object({
  person: personShape,
  link: Type.String(),
  expires_at: time(),
  /** Whether a mail with its own link is under way. */
  is_mailed: Type.Boolean(),
});

export const peopleContract = {
  'GET /dashboard/api/people': {
    answer: Type.Object({
      data: Type.Array(personShape),
      /** The roles whose holders must have a second factor, in one project or in all. */
      factor_roles: Type.Array(roleShape),
    }),
  },
  /** Sets these roles; none: a second factor is everybody's own choice. */
  'POST /dashboard/api/people/factor-roles': {
    body: Type.Object({
      roles: rolesField,
      /** The roles before the change: 409 if somebody has changed them since. */
      seen: rolesField,
    }),
    answer: doneShape,
  },
  'POST /dashboard/api/people/invite': {
    body: Type.Object({ email, role: roleShape, project: projectField }),
    answer: linkAnswer,
  },
  /** Sets the role in one project or all of them; null removes it. */
  'POST /dashboard/api/people/role': {
    body: Type.Object({
      id: idField,
      role: nullable(roleShape),
      project: projectField,
      /** The role before the change: 409 if somebody has changed it since. */
      seen: Type.Optional(nullable(roleShape)),
    }),
    answer: personAnswer,
  },
  /** Creates a link, ends all sessions and removes the second factors. */
  'POST /dashboard/api/people/reset': { body: personBody, answer: linkAnswer },
  /** Removes the second factors and ends all sessions; the password stays. */
  'POST /dashboard/api/people/remove-factors': { body: personBody, answer: personAnswer },
  'GET /dashboard/api/people/:person/sessions': {
    params: personParams,
    answer: Type.Object({ data: Type.Array(ownSessionShape) }),
  },
  'POST /dashboard/api/people/:person/sessions/end': { params: personParams, body: personBody, answer: doneShape },
  'POST /dashboard/api/people/:person/sessions/end-all': { params: personParams, answer: doneShape },
  'POST /dashboard/api/people/deactivate': { body: personBody, answer: personAnswer },
} as const satisfies Contracts;
