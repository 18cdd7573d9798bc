import { Type } from 'typebox';
import { MODES } from '../../../domain/permission.ts';
import { ACTIONS, ROLES } from '../../../domain/role.ts';
import { oneOf, text } from '../../fields.ts';

/**
 * What several parts of the contract have in common. Browsers import its types: nothing of Node may be imported here.
 */

export const roleShape = oneOf(ROLES);
export const actionShape = oneOf(ACTIONS);
export const modeShape = oneOf(MODES);

/** An answer that says nothing but that it is done. */
export const doneShape = Type.Object({});

export const projectParams = Type.Object({ project: Type.String() });
/** Below a project everything of payments is below a mode. */
export const modeParams = Type.Object({ project: Type.String(), mode: Type.String() });

export const passwordField = text({ max: 1_024, min: 1 });
export const idField = text({ max: 64, min: 1 });
export const codeField = text({ max: 64, min: 1 });

/** A page of a list by key: `after` is the `next` of the page before. */
export const keysetQuery = {
  after: Type.Optional(text({ max: 64 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
};
