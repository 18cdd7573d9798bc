import type { Payer } from '../../../app/payment-requests/pay-request.ts';
import { isEmail, MAX_EMAIL } from '../../../domain/mail-address.ts';
import type { PaymentRequest } from '../../../domain/payment-request.ts';
import { typedAmount } from '../../../domain/typed-amount.ts';
import { hasVisible } from '../../../domain/visible.ts';
import {
  ASKED_NAMES,
  FIELD_NAMES,
  type AskedName,
  type FieldName,
  type FieldProblem,
  type Problems,
  type Typed,
} from './view.ts';

/** The longest text of each field. An amount is shorter than this in every way to write it. */
export const MAX_LENGTHS: Readonly<Record<FieldName, number>> = { amount: 40, email: MAX_EMAIL, name: 255, note: 500 };

/** A text that is much too long is cut, so that the page with its problem stays small. */
const MAX_KEPT = 1_000;

export const NOTHING_TYPED: Typed = { amount: '', email: '', name: '', note: '' };

/** The fields of a sent form. PostgreSQL cannot store NUL. */
export function typedIn(body: Readonly<Record<string, unknown>> | undefined): Typed {
  const text = (name: FieldName): string => {
    const value = body?.[name];
    return typeof value === 'string' ? value.replaceAll('\0', '').replaceAll('\r\n', '\n').trim() : '';
  };
  return { amount: text('amount'), email: text('email'), name: text('name'), note: text('note') };
}

type Asking = Pick<
  PaymentRequest,
  'amountMinor' | 'minAmountMinor' | 'maxAmountMinor' | 'currency' | 'askEmail' | 'askName' | 'askNote'
>;

/** The asked fields, in their order. */
export function askedFields({ askEmail, askName, askNote }: Asking): readonly AskedName[] {
  const isAsked = { email: askEmail, name: askName, note: askNote };
  return ASKED_NAMES.filter((name) => isAsked[name]);
}

export type ReadForm =
  | { readonly kind: 'payer'; readonly payer: Omit<Payer, 'invoiceId'> }
  | { readonly kind: 'problems'; readonly problems: Problems; readonly typed: Typed };

/** The wish of a payer, or the problem of each field. Fields that are not asked for are passed over. */
export function readForm(request: Asking, typed: Typed): ReadForm {
  const asked = new Set<FieldName>(askedFields(request));
  if (request.amountMinor === null) asked.add('amount');
  const amountMinor = asked.has('amount') ? typedAmount(typed.amount, request.currency) : null;
  const problems: Partial<Record<FieldName, FieldProblem>> = {};
  for (const name of FIELD_NAMES) {
    const problem = name === 'amount' ? amountProblem(request, amountMinor) : problemOf(name, typed[name]);
    if (asked.has(name) && problem !== null) problems[name] = problem;
  }
  if (Object.keys(problems).length > 0) {
    const kept = FIELD_NAMES.map((name) => [name, typed[name].slice(0, MAX_KEPT).toWellFormed()] as const);
    return { kind: 'problems', problems, typed: { ...NOTHING_TYPED, ...Object.fromEntries(kept) } };
  }
  const given = (name: FieldName): string | null => (asked.has(name) && typed[name] !== '' ? typed[name] : null);
  return { kind: 'payer', payer: { amountMinor, email: given('email'), name: given('name'), note: given('note') } };
}

function amountProblem({ minAmountMinor, maxAmountMinor }: Asking, minor: bigint | null): FieldProblem | null {
  if (minor === null) return 'invalid';
  if (minAmountMinor !== null && minor < minAmountMinor) return 'too_little';
  return maxAmountMinor !== null && minor > maxAmountMinor ? 'too_much' : null;
}

/** The merchant asks for a name and an address to know who paid; a note is the payer's choice. */
function problemOf(name: FieldName, text: string): FieldProblem | null {
  if (text.length > MAX_LENGTHS[name]) return 'too_long';
  if (name === 'email') return isEmail(text) ? null : 'invalid';
  return name === 'name' && !hasVisible(text) ? 'invalid' : null;
}
