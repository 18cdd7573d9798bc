import type { AdvancedOrder, Invoice, Operations, Order, Transaction } from './api.generated.ts';
import type { CallOptions } from './connection.ts';
import { Resource } from './resource.ts';
import { signedRequest, type SignedRequest } from './signed-request.ts';
import type { EventType } from './event.ts';

/** How far the time passes: by a duration, to the next moment, or until nothing happens by itself any more. */
type Advance = { readonly by: string } | { readonly to_next: true } | { readonly to: 'final' };
type Simulation = Operations['POST /v1/orders/{id}/simulate']['body'];

/**
 * Help for a shop's own tests. Only test keys may simulate.
 *
 * @example
 * const test = new TestHelpers({ key, url });
 */
export class TestHelpers extends Resource {
  /**
   * Simulates what a customer does: pays a payment of test mode, in full, in part, late …
   *
   * @example
   * await cointill.test.simulate(order.id, { outcome: 'paid' });
   */
  async simulate(id: string, simulation: Simulation, options?: CallOptions): Promise<Order | Invoice | Transaction> {
    const sent = { id, body: simulation };
    if (id.startsWith('inv_')) return this.connection.call('POST /v1/invoices/{id}/simulate', sent, options);
    if (id.startsWith('ord_')) return this.connection.call('POST /v1/orders/{id}/simulate', sent, options);
    return (await this.connection.call('POST /api/transactions/{id}/simulate', sent, options)).transaction;
  }

  /**
   * Lets the time of a payment of test mode pass: what is due happens at once, moment by moment, with
   * the time of its moment, and webhooks are really sent. `by` is an ISO 8601 duration.
   *
   * @example
   * const { moments, events } = await cointill.test.advance(order.id, { by: 'PT61M' });
   */
  async advance(id: string, to: Advance, options?: CallOptions): Promise<AdvancedOrder> {
    const sent = { id, body: to };
    if (id.startsWith('inv_')) return this.connection.call('POST /v1/invoices/{id}/advance', sent, options);
    if (id.startsWith('ord_')) return this.connection.call('POST /v1/orders/{id}/advance', sent, options);
    const { success: _success, ...advanced } = await this.connection.call(
      'POST /api/transactions/{id}/advance',
      sent,
      options,
    );
    return advanced;
  }

  /**
   * Completes an invoice of test mode at once.
   *
   * @example
   * await cointill.test.complete(invoice.id);
   */
  complete(id: string, options?: CallOptions): Promise<Invoice> {
    return this.connection.call('POST /v1/invoices/{id}/complete', { id }, options);
  }

  /**
   * Makes a signed webhook request for the tests of your own handler, without any network.
   *
   * @example
   * const request = await cointill.test.signedRequest({ type: 'order.completed', secret, data: { amount: '25.00' } });
   */
  signedRequest<Type extends EventType>(signed: SignedRequest<Type>): Promise<Request> {
    return signedRequest(signed);
  }
}
