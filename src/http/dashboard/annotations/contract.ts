import { Type } from 'typebox';
import { LABEL_FAULTS, MAX_LABELLED } from '../../../domain/label-many.ts';
import { nullable, oneOf, text } from '../../fields.ts';
import { type Contracts, idField, modeParams, paymentParams, projectParams } from '../contract-parts.ts';
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
  /**
   * Adds a label to payments or removes it, as far as possible. Sent twice, it changes nothing more. `changed` are the
   * payments that changed; the others had the label already, or had it not, unless `failed` says why not.
   */
  'POST /dashboard/api/projects/:project/:mode/labels': {
    params: modeParams,
    body: Type.Object({
      what: oneOf(['add', 'remove'] as const),
      label: labelField,
      payments: Type.Array(idField, { minItems: 1, maxItems: MAX_LABELLED }),
    }),
    answer: Type.Object({
      changed: Type.Array(Type.String()),
      failed: Type.Array(
        Type.Object({ id: Type.String(), name: nullable(Type.String()), reason: oneOf(LABEL_FAULTS) }),
      ),
    }),
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
