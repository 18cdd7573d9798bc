import { Type } from 'typebox';
import { MODES } from '../../../domain/permission.ts';
import { ACTIONS, ROLES } from '../../../domain/role.ts';
import { oneOf, text } from '../../fields.ts';
import { nullable } from '../../shapes.ts';

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

export const paymentParams = Type.Object({ ...modeParams.properties, payment: Type.String() });

/** Where a block explorer shows it; null in test mode, on test chains, and where there is nothing to show. */
export const explorerUrl = nullable(Type.String());

/** Made once for what is asked for, so that sending it again after a lost answer does nothing twice. */
export const requestField = text({ max: 64, min: 8 });

export const passwordField = text({ max: 1_024, min: 1 });
export const idField = text({ max: 64, min: 1 });
export const codeField = text({ max: 64, min: 1 });

/** A page of a list by key: `after` is the `next` of the page before. */
export const keysetQuery = {
  after: Type.Optional(text({ max: 64 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
};
