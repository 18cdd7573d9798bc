import type { CreateTransaction, Operations, Statistics, Transaction } from './api.generated.ts';
import type { CallOptions } from './connection.ts';
import { List } from './list.ts';
import { Resource } from './resource.ts';

type TransactionList = Operations['GET /api/transactions/project/{projectId}']['answer'];
type ListQuery = Operations['GET /api/transactions/project/{projectId}']['query'];
type StatisticsQuery = Operations['GET /api/transactions/stats']['query'];

/**
 * The Transaction API: the customer chooses the coin on the payment page.
 *
 * @example
 * const transactions = new Transactions({ key, url });
 */
export class Transactions extends Resource {
  /**
   * Creates a transaction. Send the customer to its `payment_url`.
   *
   * @example
   * const transaction = await cointill.transactions.create({ amount: '49.99', order_id: 'A-2' });
   * console.log(transaction.payment_url);
   */
  async create(transaction: CreateTransaction, options?: CallOptions): Promise<Transaction> {
    return (await this.connection.call('POST /api/transactions/create', { body: transaction }, options)).transaction;
  }

  /**
   * Reads a transaction by its id.
   *
   * @example
   * const { status } = await cointill.transactions.get(transaction.id);
   */
  async get(id: string, options?: CallOptions): Promise<Transaction> {
    return (await this.connection.call('GET /api/transactions/{id}', { id }, options)).transaction;
  }

  /**
   * Lists the transactions of a project, newest first.
   *
   * @example
   * for await (const one of cointill.transactions.list(projectId, { status: 'completed' })) console.log(one.id);
   */
  list(projectId: string, query: ListQuery = {}, options?: CallOptions): List<Transaction, TransactionList> {
    const read = (page: ListQuery) =>
      this.connection.call('GET /api/transactions/project/{projectId}', { id: projectId, query: page }, options);
    return new List(query, read, ({ transactions }) => transactions);
  }

  /**
   * Counts the project's transactions, and adds up their amounts.
   *
   * @example
   * const { total_volume_usd_text } = await cointill.transactions.stats({ testing_mode: true });
   */
  async stats(query: StatisticsQuery = {}, options?: CallOptions): Promise<Statistics> {
    return (await this.connection.call('GET /api/transactions/stats', { query }, options)).stats;
  }

  /**
   * Cancels a transaction that nobody has paid.
   *
   * @example
   * await cointill.transactions.cancel(transaction.id);
   */
  async cancel(id: string, options?: CallOptions): Promise<Transaction> {
    return (await this.connection.call('POST /api/transactions/{id}/cancel', { id }, options)).transaction;
  }

  /**
   * Accepts what has arrived, too little or too late, as the payment of the transaction.
   *
   * @example
   * await cointill.transactions.accept(transaction.id);
   */
  async accept(id: string, options?: CallOptions): Promise<Transaction> {
    return (await this.connection.call('POST /api/transactions/{id}/accept', { id }, options)).transaction;
  }
}
