import type { CreatePaymentRequest, Operations, PaymentRequest, PaymentRequestList } from './api.generated.ts';
import type { CallOptions } from './connection.ts';
import { List } from './list.ts';
import { Resource } from './resource.ts';

/**
 * Payment requests: pages that ask for money for weeks, and make an invoice when somebody pays.
 *
 * @example
 * const requests = new PaymentRequests({ key, url });
 */
export class PaymentRequests extends Resource {
  /**
   * Creates a payment request. Send its `url` to whoever shall pay.
   *
   * @example
   * const request = await cointill.paymentRequests.create({ title: 'Deposit', amount: '250.00', currency: 'EUR' });
   * console.log(request.url);
   */
  create(request: CreatePaymentRequest, options?: CallOptions): Promise<PaymentRequest> {
    return this.connection.call('POST /v1/payment_requests', { body: request }, options);
  }

  /**
   * Reads a payment request, with what was paid so far.
   *
   * @example
   * const { status, amount_paid_text } = await cointill.paymentRequests.get(paymentRequest.id);
   */
  get(id: string, options?: CallOptions): Promise<PaymentRequest> {
    return this.connection.call('GET /v1/payment_requests/{id}', { id }, options);
  }

  /**
   * Lists payment requests, newest first.
   *
   * @example
   * for await (const request of cointill.paymentRequests.list({ status: 'open' })) console.log(request.url);
   */
  list(
    query: Operations['GET /v1/payment_requests']['query'] = {},
    options?: CallOptions,
  ): List<PaymentRequest, PaymentRequestList> {
    const read = (page: typeof query) => this.connection.call('GET /v1/payment_requests', { query: page }, options);
    return new List(query, read, ({ data }) => data);
  }

  /**
   * Closes a payment request, so that nobody can begin to pay it any more.
   *
   * @example
   * await cointill.paymentRequests.close(paymentRequest.id);
   */
  close(id: string, options?: CallOptions): Promise<PaymentRequest> {
    return this.connection.call('POST /v1/payment_requests/{id}/close', { id }, options);
  }
}
