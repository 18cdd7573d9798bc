import { Option, type Command } from 'commander';
import { pino } from 'pino';
import { bookLost } from '../app/chains/book-lost.ts';
import { readConfig } from '../config/config.ts';
import { fiatValue } from '../domain/asset.ts';
import { fiatDecimals, FIATS, formatDecimal, isFiat, parseFiatAmount, type Fiat } from '../domain/money.ts';
import type { Quote } from '../domain/payment.ts';
import type { RateSource } from '../rates/source.ts';
import { pricesNow } from '../service/prices.ts';
import type { LostTransfer } from '../store/chains/lost-transfers.ts';
import { isoTime } from '../wire/time.ts';
import { projectIdOf } from './arguments.ts';
import { UsageFailure } from './failure.ts';
import { done } from './refusal.ts';
import { withCointill } from './open.ts';
import { fields } from '../wire/fields.ts';
import { print, printsRecord, writeErrorLines, type OutputOptions } from './output.ts';
import { paymentLines, paymentRecord } from './payment-record.ts';

interface BookOptions extends OutputOptions {
  readonly amount: string;
  readonly currency: Fiat;
  readonly orderId?: string;
  readonly project?: string;
}

const MAX_ORDER_ID = 255;
/** Prices move less than this on most days; a slipped decimal point, or the wrong order, makes a larger difference. */
const NOTABLE_PERCENT = 20n;

/** `cointill recover book`. */
export function addBookCommand(recover: Command): void {
  printsRecord(
    recover
      .command('book')
      .description('create a payment for money that arrived at a skipped address, as listed by cointill network status')
      .argument('<address>', 'the address that received the money'),
  )
    .requiredOption('--amount <n>', 'the amount of the order that this money pays')
    .addOption(new Option('--currency <code>', 'the currency of the amount').choices(FIATS).default('USD'))
    .option('--order-id <text>', "the shop's reference for the order")
    .option('--project <id>', "the project's id, if several projects share the wallet", projectIdOf)
    // Options that both commands have are parsed by the parent command.
    .action((address: string, _options: unknown, own: Command) => book(address, own.optsWithGlobals()));
}

function book(address: string, options: BookOptions): Promise<void> {
  const { amount, currency, orderId = null, project: projectId = null } = options;
  if (!isFiat(currency)) throw new UsageFailure(`--currency must be one of ${FIATS.join(', ')}.`);
  const parsed = parseFiatAmount(/^\d{1,10}(?:\.\d{1,4})?$/.test(amount) ? Number(amount) : NaN, currency);
  if (parsed.kind === 'invalid') throw new UsageFailure(`--amount ${parsed.rule}.`);
  if (orderId !== null && orderId.length > MAX_ORDER_ID) {
    throw new UsageFailure(`--order-id must have at most ${MAX_ORDER_ID} characters.`);
  }
  return withCointill(async ({ app }) => {
    const booking = { address, amountMinor: parsed.minor, currency, merchantOrderId: orderId, projectId };
    const { payment, received } = done(await bookLost(app, booking));
    const { quote } = payment;
    if (quote === null) throw new Error(`The payment ${payment.id} was booked without a quote.`);
    // A market that does not answer is not reported here: the command says that there is no price.
    const rates = await pricesNow(readConfig(process.env, process.cwd()), pino({ level: 'silent' }));
    const worth = worthOf(rates, quote, currency);
    const warning = worth === null || !isNotable(parsed.minor, worth) ? null : differs(parsed.minor, worth, currency);
    const record = {
      ...paymentRecord(payment, app.links),
      ...receivedRecord(received, quote, worth, currency, warning),
    };
    print(options, record, () => [
      ...receivedLines(received, quote, worth, currency),
      '',
      ...paymentLines(payment, app.links),
    ]);
    if (warning !== null) writeErrorLines([`Warning: ${warning}`]);
  });
}

/** The present worth of the received money, in the currency's smallest units; null if a price is unknown. */
function worthOf(rates: RateSource, { asset, decimals, owedUnits }: Quote, currency: Fiat): bigint | null {
  const [assetPrice, fiatPrice] = [rates.usdPrice(asset), rates.usdPrice(currency)];
  return assetPrice === null || fiatPrice === null
    ? null
    : fiatValue(owedUnits, decimals, assetPrice, currency, fiatPrice);
}

/** Whether an amount differs more from the received money than prices explain. */
function isNotable(amountMinor: bigint, worth: bigint): boolean {
  const apart = amountMinor > worth ? amountMinor - worth : worth - amountMinor;
  return apart * 100n > worth * NOTABLE_PERCENT;
}

function shown(minor: bigint, currency: Fiat): string {
  return `${formatDecimal(minor, fiatDecimals(currency))} ${currency}`;
}

function differs(amountMinor: bigint, worth: bigint, currency: Fiat): string {
  return (
    `The payment is booked with ${shown(amountMinor, currency)}, but the received money is worth about ${shown(worth, currency)} at today's price. ` +
    'If the price on the day the money arrived does not explain the difference, compare the address and the amount with your shop before you deliver.'
  );
}

function receivedRecord(
  received: readonly LostTransfer[],
  { asset, decimals }: Quote,
  worth: bigint | null,
  currency: Fiat,
  warning: string | null,
): object {
  return {
    received: received.map((one) => ({
      // The decimals are known only for the payment's own asset.
      amount: one.asset === asset ? formatDecimal(one.amountUnits, decimals) : null,
      asset: one.asset,
      network: one.network,
      transaction_hash: one.transactionHash,
      at: isoTime(one.blockAt ?? one.foundAt),
    })),
    worth_now: worth === null ? null : formatDecimal(worth, fiatDecimals(currency)),
    warning,
  };
}

function receivedLines(
  received: readonly LostTransfer[],
  { asset, decimals }: Quote,
  worth: bigint | null,
  currency: Fiat,
): readonly string[] {
  return fields([
    ...received.map((one): [string, string] => [
      'Received',
      `${one.asset === asset ? `${formatDecimal(one.amountUnits, decimals)} ` : ''}${one.asset} on ${one.network} at ${isoTime(one.blockAt ?? one.foundAt)}, transaction ${one.transactionHash}`,
    ]),
    [
      'Worth now',
      worth === null
        ? `unknown: there is no price for ${asset} in ${currency} here. Compare the money with the amount yourself`
        : `about ${shown(worth, currency)}; the price may have been different on the day the money arrived`,
    ],
  ]);
}
