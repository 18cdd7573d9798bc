import type { Command } from 'commander';
import { FIATS } from '../../domain/money.ts';
import { commaSeparated, wholeNumber } from '../arguments.ts';
import { UsageFailure } from '../failure.ts';
import { print, printsRecord, table, type OutputOptions } from '../output.ts';
import { parseExact } from './log.ts';
import { ask, at, serviceOf, textAt } from './service.ts';

/** A collection of the API, and how a terminal shows its records. */
export interface Collection {
  /** Such as `/v1/invoices`. */
  readonly path: string;
  readonly article: 'a' | 'an';
  readonly noun: string;
  /** The form of an id, such as `inv_…`. */
  readonly id: string;
  readonly statuses: readonly string[];
  /** Columns of a list: headings, and the fields that they show. */
  readonly columns: readonly (readonly [heading: string, field: string])[];
}

const MAX_LIMIT = 100;

interface ListOptions extends OutputOptions {
  readonly status?: string;
  readonly limit: number;
}

/** Adds `list` and `show`. */
export function addReadCommands(group: Command, { path, article, noun, id, statuses, columns }: Collection): void {
  printsRecord(group.command('list').description(`list ${noun}s, newest first`))
    .option('--status <status>', `only those that are: ${statuses.join(', ')}`, oneOf('--status', statuses))
    .option('--limit <n>', `how many, 1 to ${MAX_LIMIT}`, wholeNumber(1, MAX_LIMIT), 20)
    .action(async ({ status, limit, ...options }: ListOptions) => {
      const query = new URLSearchParams({ limit: String(limit), ...(status === undefined ? {} : { status }) });
      const { text } = await ask(serviceOf(process.env), 'GET', `${path}?${query.toString()}`);
      const data: unknown = at(JSON.parse(text), 'data');
      const records: readonly unknown[] = Array.isArray(data) ? data : [];
      const rows = records.map((record) => columns.map(([, field]) => textAt(record, field)));
      const headings = columns.map(([heading]) => heading);
      print(options, exactly(at(parseExact(text), 'data')), () => table(headings, rows, `There is no ${noun} yet.`));
    });
  addCall(group.command('show').description(`show ${article} ${noun}`), id, (named) => ['GET', `${path}/${named}`]);
}

/** Makes a command of one call with an id, which prints the record that it answers. */
export function addCall(command: Command, id: string, call: (id: string) => readonly ['GET' | 'POST', string]): void {
  printsRecord(command)
    .argument('<id>', id)
    .action(async (named: string, options: OutputOptions) => {
      const [method, path] = call(encodeURIComponent(named));
      const { text } = await ask(serviceOf(process.env), method, path);
      printRecord(options, text);
    });
}

/** Creates a record and prints it. */
export async function create(options: OutputOptions, path: string, body: object): Promise<void> {
  const { text } = await ask(serviceOf(process.env), 'POST', path, { body });
  printRecord(options, text);
}

/** A record as JSON, or a line for each field that is set. */
function printRecord(options: OutputOptions, text: string): void {
  print(options, exactly(parseExact(text)), () => {
    const shown = Object.entries(exactly(JSON.parse(text))).filter(([, value]) => value !== null && !isEmpty(value));
    const width = Math.max(0, ...shown.map(([field]) => field.length));
    return shown.map(([field, value]) => `${field.padEnd(width)}  ${wordsOf(value)}`);
  });
}

/** The answer of the service, which is an object or a list. */
function exactly(answer: unknown): object {
  return typeof answer === 'object' && answer !== null ? answer : {};
}

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

function wordsOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, one]) => `${name}: ${String(one)}`)
    .join(', ');
}

/** The options that creations share. */
export interface CreateOptions extends OutputOptions {
  readonly currency: string;
  readonly coins?: readonly string[];
  readonly description?: string;
  readonly successUrl?: string;
}

export function addCreateOptions(command: Command): Command {
  return printsRecord(command)
    .requiredOption('--currency <code>', `the currency of the amount: ${FIATS.join(', ')}`)
    .option('--coins <names>', 'the coins to choose from, such as BTC,USDT/polygon', commaSeparated)
    .option('--description <text>', 'what the customer reads')
    .option('--success-url <url>', 'where the page leads after the payment');
}

export function createFields({ currency, coins, description, successUrl }: CreateOptions): object {
  return { currency, coins, description, success_url: successUrl };
}

/** An amount as the API takes it. The service checks its decimals and bounds. */
export function amountOf(text: string): number {
  const amount = /^\d{1,12}(?:\.\d{1,4})?$/.test(text) ? Number(text) : NaN;
  if (Number.isNaN(amount))
    throw new UsageFailure(`An amount is a number such as 49.90, but not ${JSON.stringify(text)}.`);
  return amount;
}

function oneOf(option: string, words: readonly string[]) {
  return (text: string): string => {
    if (words.includes(text)) return text;
    throw new UsageFailure(`${option} must be one of ${words.join(', ')}.`);
  };
}
