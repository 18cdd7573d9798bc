import type { NewRequest } from '../../app/payment-requests/create-request.ts';
import type { AccessKey } from '../../app/projects/access.ts';
import { turnsText } from '../../app/projects/name.ts';
import type { Fiat } from '../../domain/money.ts';
import type { PaymentRequest } from '../../domain/payment-request.ts';
import type { RefusalCode } from '../../domain/sentence.ts';
import { hasVisible } from '../../domain/visible.ts';
import { readAmount, readCoins, readCurrency } from '../common-fields.ts';
import { invalid, type RequestError } from '../errors.ts';
import { pageSentence } from '../page-sentences.ts';
import type { CreateRequestBody } from './schema.ts';

/** @throws RequestError that names the field and the rule that it breaks */
export function readRequest(
  { project, mode }: Pick<AccessKey, 'project' | 'mode'>,
  body: CreateRequestBody,
  now: number,
): NewRequest {
  const currency = readCurrency(body.currency);
  const { ask = {} } = body;
  if (ask.note === true && body.metadata?.['note'] !== undefined) {
    throw invalid(
      'metadata',
      'metadata must not have the key note if ask.note is true: the payer’s note has that key.',
    );
  }
  return {
    projectId: project.id,
    mode,
    title: readTitle(body.title),
    description: body.description ?? null,
    reference: body.reference ?? null,
    amountMinor: body.amount === null ? null : readAmount(body.amount, currency),
    ...readBounds(body, currency),
    currency,
    maxPayments: body.max_payments === undefined ? 1 : body.max_payments,
    coins: readCoins(body.coins),
    successUrl: body.success_url ?? project.defaultSuccessUrl,
    askEmail: ask.email ?? false,
    askName: ask.name ?? false,
    askNote: ask.note ?? false,
    metadata: body.metadata ?? null,
    expiresAt: readExpiry(body.expires_at, now),
  };
}

function readTitle(title: string): string {
  const trimmed = title.trim();
  if (!hasVisible(trimmed)) throw refused('title', 'must not be empty', 'text_empty');
  if (turnsText(trimmed)) {
    throw refused('title', 'must not contain characters that change the direction of text', 'name_direction');
  }
  return trimmed;
}

function readBounds(
  { amount, min_amount: min, max_amount: max }: CreateRequestBody,
  currency: Fiat,
): Pick<PaymentRequest, 'minAmountMinor' | 'maxAmountMinor'> {
  for (const [field, bound] of [['min_amount', min] as const, ['max_amount', max] as const]) {
    if (amount !== null && bound !== undefined) {
      throw invalid(field, `${field} can only be given with amount null, where the payer types the amount.`);
    }
  }
  const minAmountMinor = min === undefined ? null : readAmount(min, currency, 'min_amount');
  const maxAmountMinor = max === undefined ? null : readAmount(max, currency, 'max_amount');
  if (minAmountMinor !== null && maxAmountMinor !== null && minAmountMinor > maxAmountMinor) {
    throw refused('max_amount', 'must not be less than min_amount', 'bounds_order');
  }
  return { minAmountMinor, maxAmountMinor };
}

/** No request lives longer than this: a date beyond it is a typing error. */
const MAX_LIFETIME_MS = 10 * 366 * 24 * 3_600_000;

function readExpiry(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  const [, day] = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/.exec(text) ?? [];
  const at = Date.parse(text);
  // `Date` reads 30 February as 2 March.
  if (day === undefined || Number.isNaN(at) || new Date(`${day}T00:00Z`).toISOString().slice(0, 10) !== day) {
    throw invalid('expires_at', 'expires_at must be a time with its zone, such as 2026-12-31T23:59:59Z.');
  }
  if (at <= now) throw refused('expires_at', 'must be in the future', 'date_past');
  if (at > now + MAX_LIFETIME_MS) throw refused('expires_at', 'must be at most ten years ahead', 'date_far');
  return at;
}

/** A field that breaks a rule, in the words of the API and in those of a page. */
function refused(field: string, rule: string, code: RefusalCode): RequestError {
  return invalid(field, `${field} ${rule}.`, pageSentence(code, field, {}));
}
