import { Type, type Static } from 'typebox';
import { email } from '../../fields.ts';
import { nullable, time } from '../../shapes.ts';
import type { Contracts } from './route.ts';
import { idField, roleShape } from './shape.ts';

/** Who may come in. All of it takes a role in all projects. */

const membershipShape = Type.Object({
  /** Null: in all projects, later ones too. */
  project: nullable(Type.String()),
  role: roleShape,
});

const personShape = Type.Object({
  id: Type.String(),
  email: Type.String(),
  /** `invited`: no password yet. */
  state: Type.Unsafe<'active' | 'invited' | 'deactivated'>({ type: 'string' }),
  memberships: Type.Array(membershipShape),
  has_second_factor: Type.Boolean(),
  created_at: time(),
  last_seen_at: nullable(time()),
});
export type PersonView = Static<typeof personShape>;

const projectField = Type.Optional(nullable(idField));
const personBody = Type.Object({ id: idField });
const personAnswer = Type.Object({ person: personShape });
const linkAnswer = Type.Object({ person: personShape, link: Type.String(), expires_at: time() });

export const peopleContract = {
  'GET /dashboard/api/people': { answer: Type.Object({ data: Type.Array(personShape) }) },
  'POST /dashboard/api/people/invite': {
    body: Type.Object({ email, role: roleShape, project: projectField }),
    answer: linkAnswer,
  },
  /** Sets the role in a project or in all; `role` null takes it away. */
  'POST /dashboard/api/people/role': {
    body: Type.Object({ id: idField, role: nullable(roleShape), project: projectField }),
    answer: personAnswer,
  },
  /** A new link; sessions end, and the second factor goes. */
  'POST /dashboard/api/people/reset': { body: personBody, answer: linkAnswer },
  'POST /dashboard/api/people/deactivate': { body: personBody, answer: personAnswer },
} as const satisfies Contracts;
