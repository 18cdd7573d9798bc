import { Type } from 'typebox';
import { text } from '../../fields.ts';
import { type Contracts, idField, paymentParams, projectParams } from '../contract-parts.ts';
import { paymentShape } from '../payments/contract.ts';

const MAX_NOTE_LENGTH = 4_000;
const MAX_LABEL_LENGTH = 40;

const noteText = text({ max: MAX_NOTE_LENGTH });
const labelField = text({ max: MAX_LABEL_LENGTH, min: 1 });
const version = Type.Integer({ minimum: 1 });

/** Every change answers with the payment. */
const annotated = { params: paymentParams, answer: paymentShape };

const PAYMENT = '/dashboard/api/projects/:project/:mode/payments/:payment';

export const annotationsContract = {
  /** The project's labels of both modes, sorted by name. */
  'GET /dashboard/api/projects/:project/labels': {
    params: projectParams,
    answer: Type.Object({ data: Type.Array(Type.String()) }),
  },
  [`POST ${PAYMENT}/notes`]: { ...annotated, body: Type.Object({ text: noteText }) },
  /** Allowed only for its author; 409 if it was edited or deleted since `version`. */
  [`POST ${PAYMENT}/notes/edit`]: {
    ...annotated,
    body: Type.Object({ id: idField, text: noteText, version }),
  },
  [`POST ${PAYMENT}/notes/delete`]: { ...annotated, body: Type.Object({ id: idField, version }) },
  [`POST ${PAYMENT}/labels`]: { ...annotated, body: Type.Object({ label: labelField }) },
  [`POST ${PAYMENT}/labels/remove`]: { ...annotated, body: Type.Object({ label: labelField }) },
} as const satisfies Contracts;
