import type { FastifyRequest } from 'fastify';
import { paymentIdOf } from '../../domain/payment-kind.ts';
import type { Payment } from '../../domain/payment.ts';
import { keyOf } from '../api.ts';
import { notFound, type RequestError } from '../errors.ts';
import type { Greenfield } from './store.ts';

/** A call of one invoice. */
export interface OneInvoice {
  readonly Params: { readonly id: string };
}

/**
 * The invoice that a path names.
 *
 * @throws RequestError if the store has none
 */
export async function readInvoiceOf({ reader }: Greenfield, request: FastifyRequest<OneInvoice>): Promise<Payment> {
  const payment = await reader.read(selectorOf(request));
  if (payment === null) throw noInvoice();
  return payment;
}

/**
 * Selects it without reading it.
 *
 * @throws RequestError if the id is malformed
 */
export function selectorOf(request: FastifyRequest<OneInvoice>) {
  const { project, mode } = keyOf(request);
  const id = paymentIdOf('invoice', request.params.id);
  if (id === null) throw noInvoice();
  return { id, projectId: project.id, mode, api: 'invoice' as const };
}

export function noInvoice(): RequestError {
  return notFound('The store has no invoice with this id.', 'invoice-not-found');
}
