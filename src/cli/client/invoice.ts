import type { Command } from 'commander';
import { ORDER_STATUSES } from '../../domain/status.ts';
import { wholeNumber } from '../arguments.ts';
import {
  addCall,
  addCreateOptions,
  addReadCommands,
  amountOf,
  create,
  createFields,
  type CreateOptions,
} from './records.ts';

interface InvoiceOptions extends CreateOptions {
  readonly amount: number;
  readonly order?: string;
  readonly email?: string;
  readonly name?: string;
  readonly expiresIn?: number;
}

const PATH = '/v1/invoices';
const ID = 'the id of the invoice, inv_…';

/** `cointill invoice create|list|show|cancel|complete`, with COINTILL_URL and COINTILL_KEY alone. */
export function addInvoiceCommands(invoice: Command): void {
  addCreateOptions(invoice.command('create').description('create an invoice, and print its payment page'))
    .requiredOption('--amount <number>', 'the amount, such as 49.90', amountOf)
    .option('--order <reference>', 'your own reference')
    .option('--email <address>', "the customer's e-mail address")
    .option('--name <name>', "the customer's name")
    .option('--expires-in <seconds>', 'how long it can be paid, 60 to 86400', wholeNumber(60, 86_400))
    .action(({ amount, order, email, name, expiresIn, ...options }: InvoiceOptions) =>
      create(options, PATH, {
        amount,
        ...createFields(options),
        order_id: order,
        customer_email: email,
        customer_name: name,
        expires_in: expiresIn,
      }),
    );
  addReadCommands(invoice, {
    path: PATH,
    article: 'an',
    noun: 'invoice',
    id: ID,
    statuses: ORDER_STATUSES,
    columns: [
      ['ID', 'id'],
      ['STATUS', 'status'],
      ['AMOUNT', 'amount'],
      ['CURRENCY', 'currency'],
      ['ORDER', 'order_id'],
      ['CREATED', 'created_at'],
    ],
  });
  addCall(invoice.command('cancel').description('cancel an invoice that nobody has paid'), ID, (id) => [
    'POST',
    `${PATH}/${id}/cancel`,
  ]);
  addCall(invoice.command('complete').description('complete a test invoice now'), ID, (id) => [
    'POST',
    `${PATH}/${id}/complete`,
  ]);
}
