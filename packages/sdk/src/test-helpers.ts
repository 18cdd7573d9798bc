import type { Operations, Order, Transaction } from './api.generated.ts';
import type { CallOptions } from './connection.ts';
import { Resource } from './resource.ts';
import { signedRequest, type SignedRequest } from './signed-request.ts';
import type { EventType } from './event.ts';

type Simulation = Operations['POST /v1/orders/{id}/simulate']['body'];

/**
 * Help for a shop's own tests. Only test keys may simulate.
 *
 * @example
 * const test = new TestHelpers({ key, url });
 */
export class TestHelpers extends Resource {
  /**
   * Simulates what a customer does: pays an order or a transaction of test mode, in full, in part, late …
   *
   * @example
   * await cointill.test.simulate(order.id, { outcome: 'paid' });
   */
  async simulate(id: string, simulation: Simulation, options?: CallOptions): Promise<Order | Transaction> {
    const sent = { id, body: simulation };
    if (id.startsWith('ord_')) return this.connection.call('POST /v1/orders/{id}/simulate', sent, options);
    return (await this.connection.call('POST /api/transactions/{id}/simulate', sent, options)).transaction;
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
