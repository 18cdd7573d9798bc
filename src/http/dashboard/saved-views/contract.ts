import { Type, type Static } from 'typebox';
import { text, time } from '../../fields.ts';
import { type Contracts, doneShape, projectParams } from '../contract-parts.ts';

const viewShape = Type.Object({
  id: Type.String(),
  name: Type.String(),
  /**
   * The query of the list's address, such as `status=completed&network=bitcoin`. Written by this or another version.
   */
  query: Type.String(),
  shared: Type.Boolean(),
  /** The e-mail address of the person who saved it. */
  owner: Type.String(),
  is_own: Type.Boolean(),
  /** Whether the person may change it. */
  can_change: Type.Boolean(),
  version: Type.Integer(),
  changed_at: time(),
});
export type ViewAnswer = Static<typeof viewShape>;

const fields = {
  name: text({ max: 60, min: 1 }),
  query: text({ max: 2_000 }),
  shared: Type.Boolean(),
};
const version = Type.Integer({ minimum: 1 });
const viewParams = Type.Object({ project: Type.String(), view: Type.String() });

export const viewsContract = {
  /** The person's own views of the list of payments, and the shared ones. */
  'GET /dashboard/api/projects/:project/views': {
    params: projectParams,
    answer: Type.Object({ data: Type.Array(viewShape) }),
  },
  'POST /dashboard/api/projects/:project/views': {
    params: projectParams,
    body: Type.Object(fields),
    answer: viewShape,
  },
  /** `version` is the one that was read: 409 if somebody has changed the view since. */
  'POST /dashboard/api/projects/:project/views/:view': {
    params: viewParams,
    body: Type.Object({ ...fields, version }),
    answer: viewShape,
  },
  'POST /dashboard/api/projects/:project/views/:view/delete': {
    params: viewParams,
    body: Type.Object({ version }),
    answer: doneShape,
  },
} as const satisfies Contracts;
