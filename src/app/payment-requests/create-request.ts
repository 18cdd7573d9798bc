import type { Mode } from '../../domain/permission.ts';
import { NO_REQUEST_SUMS, type PaymentRequest } from '../../domain/payment-request.ts';
import type { Trx } from '../../store/database.ts';
import { insertRequest } from '../../store/payments/payment-requests.ts';
import { saveChanges } from '../../store/payments/save-changes.ts';
import { requestView } from '../../wire/payment-request.ts';
import { recordPeoplesAudit } from '../audit.ts';
import { newId, type App } from '../context.ts';
import { answerRow, inTransactionOnce, type IdempotencyRequest, type Replay } from '../idempotency.ts';
import { unpayableCoins } from '../payments/create-payment.ts';
import type { TokenRefusal } from '../payments/quote-payment.ts';
import { auditedRequest } from './save-request.ts';

/** The fields of a request that nothing has happened to. */
type Begun = 'id' | 'status' | 'createdAt' | 'endedAt' | 'toldMinor' | 'toldPayments' | 'lastSequence';
/** A validated request for a payment request. */
export type NewRequest = Omit<PaymentRequest, Begun> & { readonly mode: Mode };

export type CreatedRequest =
  | { readonly kind: 'done'; readonly body: string; readonly request: PaymentRequest }
  | Extract<TokenRefusal, { readonly kind: 'refused' }>;

/** Creates a payment request. Refused if it could be paid in no coin. */
export async function createRequest(
  app: App,
  wanted: NewRequest,
  idempotency: IdempotencyRequest | null,
): Promise<CreatedRequest | Replay> {
  return inTransactionOnce<CreatedRequest>(app, idempotency, async (trx) => {
    const now = app.clock();
    const made = await insertNewRequest(app, trx, wanted, now);
    if (made.kind === 'refused') return made;
    const { request } = made;
    await recordPeoplesAudit(app, trx, auditedRequest('payment.request', request));
    const body = JSON.stringify(requestView(request, NO_REQUEST_SUMS, app.links));
    if (idempotency !== null) await saveChanges(trx, [], 2, [answerRow(idempotency, body, now)]);
    return { kind: 'done', body, request };
  });
}

/**
 * Saves a new request, unless it could be paid in no coin: because of its own choice, or because the project has no
 * wallet. Whoever creates requests, the API or a person, goes through here.
 */
export async function insertNewRequest(
  app: App,
  trx: Trx,
  wanted: NewRequest,
  now: number,
): Promise<
  { readonly kind: 'made'; readonly request: PaymentRequest } | Extract<TokenRefusal, { readonly kind: 'refused' }>
> {
  const unpayable = await unpayableCoins(app.railFor(wanted.mode), wanted, trx);
  if (unpayable !== null) return unpayable;
  const request: PaymentRequest = {
    ...wanted,
    id: newId(app, now),
    status: 'open',
    createdAt: now,
    endedAt: null,
    toldMinor: 0n,
    toldPayments: 0,
    lastSequence: 0,
  };
  await insertRequest(trx, request);
  return { kind: 'made', request };
}
