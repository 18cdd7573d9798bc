import { type TSchema, Type, type Static } from 'typebox';
import { MODES } from '../../domain/permission.ts';
import { ACTIONS, ROLES } from '../../domain/role.ts';
import { oneOf, text, nullable } from '../fields.ts';

/** The schemas of one route: `params` of its path, `query`, JSON `body` and JSON `answer`. */
export interface RouteContract {
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  readonly answer: TSchema;
}

/** Routes by `METHOD /path`, in Fastify's path syntax. */
export type Contracts = Readonly<Record<`${'GET' | 'POST'} /dashboard/api/${string}`, RouteContract>>;

/** Schemas that several contracts share. The browser imports their types, so nothing from Node may be imported here. */

export const roleShape = oneOf(ROLES);
export const actionShape = oneOf(ACTIONS);
export const modeShape = oneOf(MODES);

/** A person as colleagues know them; `name` is null if they gave none. */
export const namedPersonShape = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: nullable(Type.String()),
});

/** The empty answer of a successful action. */
export const doneShape = Type.Object({});

export const projectParams = Type.Object({ project: Type.String() });
/** The path parameters of all routes that depend on the mode. */
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

/** A transaction that a browser wallet can send; `value` in the coin's smallest unit, `data` as `0x` and hex. */
export const walletCallShape = Type.Object({
  chain_id: Type.Integer(),
  to: Type.String(),
  value: Type.String(),
  data: Type.String(),
});
export type WalletCall = Static<typeof walletCallShape>;

/** The data with which a wallet adds a network (EIP-3085); null if unknown, such as for test chains. */
export const walletChainShape = nullable(
  Type.Object({
    name: Type.String(),
    currency: Type.String(),
    rpc_url: Type.String(),
    explorer_url: Type.String(),
  }),
);
export type WalletChain = Static<typeof walletChainShape>;

/** How an exported file is written. */
export const writing = {
  format: Type.Optional(oneOf(['csv', 'jsonl'])),
  /** Only for a CSV file. Spreadsheets of countries that write 1,5 take semicolons. */
  separator: Type.Optional(oneOf(['comma', 'semicolon'])),
};

/** When listed records were created. ISO 8601; both leave out their own moment. */
export const createdFilters = {
  created_after: Type.Optional(text({ max: 40 })),
  created_before: Type.Optional(text({ max: 40 })),
};
