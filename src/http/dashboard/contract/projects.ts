import { Type } from 'typebox';
import { text } from '../../fields.ts';
import type { Contracts } from './route.ts';

/** The list of projects is part of the session. */
export const projectsContract = {
  'POST /dashboard/api/projects': {
    body: Type.Object({ name: text({ max: 100, min: 1 }) }),
    answer: Type.Object({ id: Type.String(), name: Type.String() }),
  },
} as const satisfies Contracts;
