import { Type } from 'typebox';
import { MODES } from '../../../domain/permission.ts';
import { ACTIONS, ROLES } from '../../../domain/role.ts';
import { oneOf, text } from '../../fields.ts';
import { nullable } from '../../shapes.ts';

/** Schemas that several contracts share. The browser imports their types, so nothing from Node may be imported here. */

export const roleShape = oneOf(ROLES);
export const actionShape = oneOf(ACTIONS);
export const modeShape = oneOf(MODES);

/** The empty answer of a successful action. */
export const doneShape = Type.Object({});

export const projectParams = Type.Object({ project: Type.String() });
/** The path parameters of everything that depends on the mode. */
export const modeParams = Type.Object({ project: Type.String(), mode: Type.String() });

export const paymentParams = Type.Object({ ...modeParams.properties, payment: Type.String() });

/** The page of a block explorer; null in test mode and on test chains. */
export const explorerUrl = nullable(Type.String());

/** A key that the browser creates for each form, so that a form sent twice does its work once. */
export const requestField = text({ max: 64, min: 8 });

export const passwordField = text({ max: 1_024, min: 1 });
export const idField = text({ max: 64, min: 1 });
export const codeField = text({ max: 64, min: 1 });

/** Keyset pagination: `after` is the `next` of the previous page. */
export const keysetQuery = {
  after: Type.Optional(text({ max: 64 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
};
