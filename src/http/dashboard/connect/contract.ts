import { Type } from 'typebox';
import { MODES, SCOPES } from '../../../domain/permission.ts';
import { nullable, oneOf, text } from '../../fields.ts';
import { type Contracts, modeParams, requestField } from '../contract-parts.ts';

/** The query of the page, as it stands in the address: what is shown and what is done are read from the same text. */
const askedField = text({ max: 8_000 });

/** A shop's plugin asks for a key (BTCPay Server's `/api-keys/authorize`). */
export const connectContract = {
  /** 400 if no key can be made for the question, 403 if the person may make none. */
  'GET /dashboard/api/connect': {
    query: Type.Object({ mode: oneOf(MODES), asked: Type.Optional(askedField) }),
    answer: Type.Object({
      /** The host that gets the key. */
      host: Type.String(),
      /** Untrusted text. */
      application: nullable(Type.String()),
      scopes: Type.Array(oneOf(SCOPES)),
      /** The projects where the person may make the key. */
      projects: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
    }),
  },
  /** Makes the key. The answer is the form that the browser posts to the shop. 409 if the page has made one already. */
  'POST /dashboard/api/projects/:project/:mode/connect': {
    params: modeParams,
    body: Type.Object({ asked: askedField, request: requestField }),
    answer: Type.Object({
      redirect: Type.String(),
      fields: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
    }),
  },
} as const satisfies Contracts;
