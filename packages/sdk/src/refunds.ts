import type { CreateRefund, Operations, Refund, RefundList } from './api.generated.ts';
import type { CallOptions } from './connection.ts';
import { List } from './list.ts';
import { Resource } from './resource.ts';

/**
 * Refunds of payments. You pay them from your own wallet.
 *
 * @example
 * const refunds = new Refunds({ key, url });
 */
export class Refunds extends Resource {
  /**
   * Creates a refund. Without `address`, the customer enters one at its `claim_url`.
   *
   * @example
   * const refund = await cointill.refunds.create({ order_id: order.id, amount: '10.00' });
   * console.log(refund.claim_url);
   */
  create(refund: CreateRefund, options?: CallOptions): Promise<Refund> {
    return this.connection.call('POST /v1/refunds', { body: refund }, options);
  }

  /**
   * Reads a refund by its id.
   *
   * @example
   * const { status } = await cointill.refunds.get(refund.id);
   */
  get(id: string, options?: CallOptions): Promise<Refund> {
    return this.connection.call('GET /v1/refunds/{id}', { id }, options);
  }

  /**
   * Lists refunds, newest first.
   *
   * @example
   * for await (const refund of cointill.refunds.list({ order_id: order.id })) console.log(refund.status);
   */
  list(query: Operations['GET /v1/refunds']['query'] = {}, options?: CallOptions): List<Refund, RefundList> {
    const read = (page: typeof query) => this.connection.call('GET /v1/refunds', { query: page }, options);
    return new List(query, read, ({ data }) => data);
  }

  /**
   * Cancels a refund that is not paid.
   *
   * @example
   * await cointill.refunds.cancel(refund.id);
   */
  cancel(id: string, options?: CallOptions): Promise<Refund> {
    return this.connection.call('POST /v1/refunds/{id}/cancel', { id }, options);
  }
}
