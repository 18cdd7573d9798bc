import type { CreatedOrder, CreateOrder, Operations, Order, OrderList } from './api.generated.ts';
import type { CallOptions } from './connection.ts';
import { List } from './list.ts';
import { Resource } from './resource.ts';

/**
 * The Order API: you choose the coin when you create the order.
 *
 * @example
 * const orders = new Orders({ key, url });
 */
export class Orders extends Resource {
  /**
   * Creates an order. Send the customer to its `payment_url`.
   *
   * @example
   * const order = await cointill.orders.create({ amount: '25.00', currency: 'USD', crypto_currency: 'BTC' });
   * console.log(order.payment_url, order.crypto_amount_text);
   */
  create(order: CreateOrder, options?: CallOptions): Promise<CreatedOrder> {
    return this.connection.call('POST /v1/orders', { body: order }, options);
  }

  /**
   * Reads an order by its id.
   *
   * @example
   * const { status } = await cointill.orders.get(order.id);
   */
  get(id: string, options?: CallOptions): Promise<Order> {
    return this.connection.call('GET /v1/orders/{id}', { id }, options);
  }

  /**
   * Lists orders, newest first.
   *
   * @example
   * for await (const order of cointill.orders.list({ status: 'completed' })) console.log(order.id);
   */
  list(query: Operations['GET /v1/orders']['query'] = {}, options?: CallOptions): List<Order, OrderList> {
    const read = (page: typeof query) => this.connection.call('GET /v1/orders', { query: page }, options);
    return new List(query, read, ({ data }) => data);
  }

  /**
   * Cancels an order that nobody has paid.
   *
   * @example
   * await cointill.orders.cancel(order.id);
   */
  cancel(id: string, options?: CallOptions): Promise<Order> {
    return this.connection.call('POST /v1/orders/{id}/cancel', { id }, options);
  }

  /**
   * Accepts what has arrived, too little or too late, as the payment of the order.
   *
   * @example
   * await cointill.orders.accept(order.id);
   */
  accept(id: string, options?: CallOptions): Promise<Order> {
    return this.connection.call('POST /v1/orders/{id}/accept', { id }, options);
  }
}
