import { refusalError, sentenceError } from '../../page-sentences.ts';
import type { FastifyRequest } from 'fastify';
import type { CreateOutcome } from '../../../app/payments/create-payment.ts';
import type { NewPayment } from '../../../app/payments/draft-payment.ts';
import { rejected } from '../../../app/rejected.ts';
import { actorOf } from '../../../app/people/sessions.ts';
import {
  fiatDecimals,
  maxAmountMinor,
  MIN_AMOUNT_MINOR,
  parseDecimal,
  type Fiat,
  FIATS,
} from '../../../domain/money.ts';
import { findProject } from '../../../store/projects/projects.ts';
import { amountRange } from '../../../domain/amount-range.ts';
import { publicPaymentId } from '../../../domain/payment-kind.ts';
import { paymentUrl } from '../../../wire/payment.ts';
import { clientAddress } from '../../client.ts';
import { invalid, RequestError } from '../../errors.ts';
import { badField, refusedError } from '../refusal-words.ts';
import type { AnswerOf, BodyOf } from '../contract.ts';
import type { Dashboard, Routes } from '../route.ts';
import { formRequest, notAgain, type ProjectScope, signedInOf } from '../scope.ts';
import { NO_MERCHANT_FIELDS } from '../../../domain/payment.ts';

const PROJECT = '/dashboard/api/projects/:project/:mode';
const CREATE = `POST ${PROJECT}/payments` as const;

/** Payments created by hand. */
export function newPaymentRoutes(routes: Routes, { people: { app: core }, creator }: Dashboard): void {
  const CHANGE = { action: 'change_payments' } as const;
  routes.add(`GET ${PROJECT}/tokens`, CHANGE, async ({ scope: { projectId, mode } }) => {
    const [tokens, project] = await Promise.all([
      core.railFor(mode).tokens(projectId),
      findProject(core.db, projectId),
    ]);
    return {
      data: tokens.map(({ asset, network }) => ({ asset, network })),
      currencies: [...FIATS],
      defaults: {
        currency: project?.defaultCurrency ?? null,
        expires_in_minutes: project?.defaultExpiryMinutes ?? null,
      },
    };
  });
  routes.add(CREATE, CHANGE, async ({ scope, body, request }): Promise<AnswerOf<typeof CREATE>> => {
    const project = await findProject(core.db, scope.projectId);
    if (project?.active === false) {
      throw refusalError(rejected('project_inactive'));
    }
    const outcome = await creator.create(
      { ...readPayment(request, scope, body), successUrl: project?.defaultSuccessUrl ?? null },
      (payment) => JSON.stringify({ id: publicPaymentId(payment), payment_url: paymentUrl(payment, core.links) }),
      formRequest(request, scope, body.request),
    );
    return JSON.parse(createdOf(outcome)) as AnswerOf<typeof CREATE>;
  });
}

/** The stored answer of a creation. @throws RequestError that says why nothing was created */
export function createdOf(outcome: CreateOutcome): string {
  switch (outcome.kind) {
    case 'done':
    case 'replayed':
      return outcome.body;
    case 'no_rate':
      throw sentenceError('service_unavailable', 'no_current_price');
    case 'wrong_clock':
      throw new RequestError('service_unavailable', outcome.message);
    case 'refused':
      throw refusedError(outcome, outcome.param === 'crypto_currency' ? 'asset' : outcome.param);
    case 'key_reused':
    case 'still_running':
      throw notAgain(outcome.kind);
  }
}

function readPayment(
  request: FastifyRequest,
  { projectId, mode }: ProjectScope,
  body: BodyOf<typeof CREATE>,
): NewPayment {
  const { asset, network, currency } = body;
  if (asset === undefined && network !== undefined) {
    throw invalid('network', 'network can only be given together with asset.');
  }
  return {
    projectId,
    mode,
    api: asset === undefined ? 'invoice' : 'order',
    amountMinor: readAmount(body.amount, currency),
    currency,
    token: asset === undefined ? null : { asset, network: network ?? null },
    ...NO_MERCHANT_FIELDS,
    merchantOrderId: textOrNull(body.order_id),
    description: textOrNull(body.description),
    customerEmail: body.customer_email ?? null,
    lifetimeMs: body.expires_in_minutes * 60_000,
    requestId: request.id,
    by: actorOf(signedInOf(request).person, clientAddress(request)),
  };
}

/** An empty text is none. */
export function textOrNull(text: string | undefined): string | null {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? null : trimmed;
}

/** @throws RequestError for an amount that no payment can have */
export function readAmount(text: string, currency: Fiat): bigint {
  const minor = parseDecimal(text.trim(), fiatDecimals(currency));
  if (minor !== null && minor >= MIN_AMOUNT_MINOR && minor <= maxAmountMinor(currency)) return minor;
  throw badField('amount', 'amount_range', amountRange(currency));
}
