import { Option, type Command } from 'commander';
import { MAX_PAYMENTS, REQUEST_STATUSES } from '../../domain/payment-request.ts';
import { commaSeparated, wholeNumber } from '../arguments.ts';
import { UsageFailure } from '../failure.ts';
import {
  addCall,
  addCreateOptions,
  addReadCommands,
  amountOf,
  create,
  createFields,
  type CreateOptions,
} from './records.ts';

interface RequestOptions extends CreateOptions {
  readonly title: string;
  readonly amount?: number;
  readonly min?: number;
  readonly max?: number;
  readonly reference?: string;
  readonly expires?: string;
  readonly payments: number | 'any';
  readonly ask: readonly string[];
}

const PATH = '/v1/payment_requests';
const ID = 'the id of the request, req_…';
const QUESTIONS = ['email', 'name', 'note'];

/** `cointill request create|list|show|close`, with COINTILL_URL and COINTILL_KEY alone. */
export function addRequestCommands(request: Command): void {
  addCreateOptions(request.command('create').description('ask for money by a link that lives as long as you like'))
    .requiredOption('--title <text>', 'what is to be paid')
    .addOption(
      new Option('--amount <number>', 'the amount; by default the payer types it')
        .argParser(amountOf)
        .conflicts(['min', 'max']),
    )
    .option('--min <number>', 'the least that can be typed', amountOf)
    .option('--max <number>', 'the most that can be typed', amountOf)
    .option('--reference <text>', 'your own reference')
    .option('--expires <time>', 'when it ends, such as 2026-12-31T23:59:59Z; by default never')
    .addOption(
      new Option('--payments <n>', `how often it can be paid, 1 to ${MAX_PAYMENTS}, or any`)
        .argParser(paymentsOf)
        .default(1),
    )
    .addOption(
      new Option('--ask <fields>', `what payers are asked for: ${QUESTIONS.join(', ')}`)
        .argParser(questionsOf)
        .default([], 'nothing'),
    )
    .action(({ title, amount, min, max, reference, expires, payments, ask, ...options }: RequestOptions) =>
      create(options, PATH, {
        title,
        amount: amount ?? null,
        min_amount: min,
        max_amount: max,
        ...createFields(options),
        reference,
        expires_at: expires,
        max_payments: payments === 'any' ? null : payments,
        ask: Object.fromEntries(QUESTIONS.map((name) => [name, ask.includes(name)])),
      }),
    );
  addReadCommands(request, {
    path: PATH,
    article: 'a',
    noun: 'payment request',
    id: ID,
    statuses: REQUEST_STATUSES,
    columns: [
      ['ID', 'id'],
      ['STATUS', 'status'],
      ['TITLE', 'title'],
      ['AMOUNT', 'amount'],
      ['PAID', 'amount_paid'],
      ['CURRENCY', 'currency'],
      ['CREATED', 'created_at'],
    ],
  });
  addCall(request.command('close').description('take no more payments'), ID, (id) => ['POST', `${PATH}/${id}/close`]);
}

function paymentsOf(text: string): number | 'any' {
  return text === 'any' ? text : wholeNumber(1, MAX_PAYMENTS)(text);
}

function questionsOf(text: string): readonly string[] {
  const names = commaSeparated(text);
  const unknown = names.find((name) => !QUESTIONS.includes(name));
  if (unknown === undefined) return names;
  throw new UsageFailure(`--ask takes ${QUESTIONS.join(', ')}, but not ${JSON.stringify(unknown)}.`);
}
