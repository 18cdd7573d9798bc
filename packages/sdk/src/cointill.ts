import { Connection, type Options } from './connection.ts';
import { Events } from './events.ts';
import { Invoices } from './invoices.ts';
import { Orders } from './orders.ts';
import { PaymentRequests } from './payment-requests.ts';
import { Refunds } from './refunds.ts';
import { TestHelpers } from './test-helpers.ts';
import { Transactions } from './transactions.ts';
import { Webhooks } from './webhooks.ts';

/**
 * A client of one service, for one key.
 *
 * @example
 * const cointill = new Cointill({ key: process.env.COINTILL_KEY, url: process.env.COINTILL_URL });
 */
export class Cointill {
  readonly orders: Orders;
  readonly invoices: Invoices;
  readonly paymentRequests: PaymentRequests;
  readonly transactions: Transactions;
  readonly refunds: Refunds;
  readonly events: Events;
  readonly webhooks: Webhooks;
  readonly test: TestHelpers;

  /** @throws InvalidRequestError if the key or the address cannot be right */
  constructor(options: Options) {
    const connection = new Connection(options);
    this.orders = new Orders(connection);
    this.invoices = new Invoices(connection);
    this.paymentRequests = new PaymentRequests(connection);
    this.transactions = new Transactions(connection);
    this.refunds = new Refunds(connection);
    this.events = new Events(connection);
    this.webhooks = new Webhooks();
    this.test = new TestHelpers(connection);
  }
}
