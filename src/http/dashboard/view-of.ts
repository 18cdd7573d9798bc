import type { FastifyRequest } from 'fastify';
import { readPaymentDetails } from '../../app/dashboard/payment-details.ts';
import type { App } from '../../app/context.ts';
import type { PaymentSelector } from '../../app/payments/change-payment.ts';
import type { PaymentView } from './contract/payments.ts';
import { paymentView } from './payment-views.ts';
import { noPayment, type ProjectScope } from './project-scope.ts';
import { viewerOf } from './viewer.ts';

/**
 * A payment in detail, for the person who is signed in.
 *
 * @throws RequestError if there is none
 */
export async function viewOf(
  core: App,
  request: FastifyRequest,
  scope: ProjectScope,
  selector: PaymentSelector,
): Promise<PaymentView> {
  const seen = await readPaymentDetails(core, selector);
  if (seen === null) throw noPayment();
  return paymentView(seen, core.links, viewerOf(request, scope));
}
