import type { CreateInvoice, Invoice, InvoiceList, Operations } from './api.generated.ts';
import type { CallOptions } from './connection.ts';
import { List } from './list.ts';
import { Resource } from './resource.ts';

/**
 * Invoices: the customer chooses the coin on the payment page.
 *
 * @example
 * const invoices = new Invoices({ key, url });
 */
export class Invoices extends Resource {
  /**
   * Creates an invoice. Send the customer to its `payment_url`.
   *
   * @example
   * const invoice = await cointill.invoices.create({ amount: '49.90', currency: 'EUR' });
   * console.log(invoice.payment_url);
   */
  create(invoice: CreateInvoice, options?: CallOptions): Promise<Invoice> {
    return this.connection.call('POST /v1/invoices', { body: invoice }, options);
  }

  /**
   * Reads an invoice by its id.
   *
   * @example
   * const { status } = await cointill.invoices.get(invoice.id);
   */
  get(id: string, options?: CallOptions): Promise<Invoice> {
    return this.connection.call('GET /v1/invoices/{id}', { id }, options);
  }

  /**
   * Lists invoices, newest first.
   *
   * @example
   * for await (const invoice of cointill.invoices.list({ status: 'completed' })) console.log(invoice.id);
   */
  list(query: Operations['GET /v1/invoices']['query'] = {}, options?: CallOptions): List<Invoice, InvoiceList> {
    const read = (page: typeof query) => this.connection.call('GET /v1/invoices', { query: page }, options);
    return new List(query, read, ({ data }) => data);
  }

  /**
   * Cancels an invoice that nobody has paid.
   *
   * @example
   * await cointill.invoices.cancel(invoice.id);
   */
  cancel(id: string, options?: CallOptions): Promise<Invoice> {
    return this.connection.call('POST /v1/invoices/{id}/cancel', { id }, options);
  }

  /**
   * Accepts what has arrived, too little or too late, as the payment of the invoice.
   *
   * @example
   * await cointill.invoices.accept(invoice.id);
   */
  accept(id: string, options?: CallOptions): Promise<Invoice> {
    return this.connection.call('POST /v1/invoices/{id}/accept', { id }, options);
  }
}
