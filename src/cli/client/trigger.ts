import { bech32 } from '@scure/base';
import { Argument, type Command } from 'commander';
import {
  EVENT_TYPES,
  isRefundEvent,
  PAYMENT_STEPS,
  type EventType,
  type PaymentStep,
} from '../../domain/event-type.ts';
import type { PaymentApi } from '../../domain/payment.ts';
import { PAYMENT_ID_FORMS, PAYMENT_KINDS, parsePaymentId, stepEvent, stepEvents } from '../../domain/payment-kind.ts';
import type { Simulation } from '../../domain/simulation.ts';
import { CommandFailure, UsageFailure } from '../failure.ts';
import { print, printsRecord, writeLines, type OutputOptions } from '../output.ts';
import { entryLines, entryRecord } from './log-lines.ts';
import { readLog, type LogEntry } from './log.ts';
import { ask, at, Refused, serviceOf, textAt, type Service } from './service.ts';

interface TriggerOptions extends OutputOptions {
  readonly order?: string;
}

/** The outcome that leads to a step of a payment; the others have ways of their own. */
const OUTCOMES: Readonly<Partial<Record<PaymentStep, Simulation>>> = {
  confirming: 'confirming',
  completed: 'paid',
  expired: 'expired',
  failed: 'failed',
  exception: 'part',
};
/** The collections of payments, and the field of an answer that has the payment. */
const COLLECTIONS: Readonly<Record<PaymentApi, { readonly path: string; readonly field: string | null }>> = {
  transaction: { path: '/api/transactions', field: 'transaction' },
  order: { path: '/v1/orders', field: null },
  invoice: { path: '/v1/invoices', field: null },
};
const INVOICE = { amount: 10, currency: 'USD' };
/** A token, so that money can arrive in another asset of its network. */
const ORDER = { ...INVOICE, crypto_currency: 'USDC' };
/** Longer than the sandbox takes to pay a refund. */
const PATIENCE_MS = 30_000;
const WAIT_SECONDS = 15;

/** `cointill trigger`. */
export function addTriggerCommand(trigger: Command): void {
  printsRecord(trigger)
    .addArgument(new Argument('<event>', 'the type of the event').choices(EVENT_TYPES))
    .option('--order <id>', `the test payment that it happens to (${PAYMENT_ID_FORMS}); by default a new one`)
    .action(async (type: EventType, { order, ...options }: TriggerOptions) => {
      const service = serviceOf(process.env);
      if (service.mode !== 'test') throw new CommandFailure('COINTILL_KEY is a live key. Use a test key (sk_test_…).');
      if (type === 'payment.lost') {
        throw new CommandFailure('payment.lost happens to live payments alone, after a restore or a failover.');
      }
      if (stepOf(type) === 'created' && order !== undefined) {
        throw new UsageFailure(`${type} happens when a payment is created. Leave out --order.`);
      }
      const { head } = await readLog(service, { after: 'now', limit: 1 });
      const payment = order === undefined ? await createPayment(service, type) : await readPayment(service, order);
      refuseImpossible(payment, type);
      const say = (line: string): void => (options.json === true ? undefined : writeLines([line]));
      if (order === undefined) say(`Created ${payment.id} over 10.00 USD. To use a payment of yours, give --order.`);
      await cause(service, payment, type);
      const entries = await eventsUntil(service, payment, type, head);
      print(options, { payment: payment.id, events: entries.map((entry) => entryRecord(entry)) }, () =>
        entries.flatMap((entry) => entryLines(entry)),
      );
    });
}

interface Payment {
  readonly id: string;
  readonly api: PaymentApi;
  /** Where it is changed, such as `/v1/orders/ord_…`. */
  readonly path: string;
  readonly status: string;
  /** Empty while no token is chosen. */
  readonly address: string;
}

async function createPayment(service: Service, type: EventType): Promise<Payment> {
  const [path, body] = type.startsWith('invoice.') ? ['/v1/invoices', INVOICE] : ['/v1/orders', ORDER];
  const created = await ask(service, 'POST', path, { body });
  // The answer to a creation lacks the address.
  return readPayment(service, textAt(JSON.parse(created.text), 'id'));
}

async function readPayment(service: Service, id: string): Promise<Payment> {
  const api = parsePaymentId(id)?.api;
  if (api === undefined) throw new UsageFailure(`--order must be the id of a payment: ${PAYMENT_ID_FORMS}.`);
  const { path: collection, field } = COLLECTIONS[api];
  const path = `${collection}/${id}`;
  const answer: unknown = JSON.parse((await ask(service, 'GET', path)).text);
  const body = field === null ? answer : at(answer, field);
  return { id, api, path, status: textAt(body, 'status'), address: textAt(body, 'address') };
}

/** The step of a payment that an event tells of; null if it tells of something else. */
function stepOf(type: EventType): PaymentStep | null {
  return PAYMENT_STEPS.find((step) => stepEvents(step).some((one) => one === type)) ?? null;
}

const OVER = ['completed', 'failed', 'expired', 'cancelled'];
const CONFIRMING = ['processing', 'confirming'];

/** Each of these events happens once to a payment of its kind, while it is open. */
function refuseImpossible({ id, api, status }: Payment, type: EventType): void {
  const step = stepOf(type);
  if (step === null) return;
  const own = stepEvent({ api }, step);
  if (own !== type) throw new UsageFailure(`${id} is ${PAYMENT_KINDS[api].one}, so its event is ${own}.`);
  if (step === 'exception') return;
  if (!OVER.includes(status) && !(CONFIRMING.includes(status) && step === 'confirming')) return;
  throw new CommandFailure(`${id} is ${status}, so ${type} cannot happen to it any more. Use another payment.`);
}

/** Makes the event happen by the calls that a shop would make, and by simulation. */
async function cause(service: Service, payment: Payment, type: EventType): Promise<void> {
  const step = stepOf(type);
  const outcome = type === 'payment.wrong_asset' ? 'wrong_asset' : step === null ? undefined : OUTCOMES[step];
  if (outcome !== undefined) await simulate(service, payment, outcome);
  else if (step === 'cancelled') await ask(service, 'POST', `${payment.path}/cancel`);
  else if (isRefundEvent(type)) await causeRefund(service, payment, type);
}

async function simulate(service: Service, { path }: Payment, outcome: Simulation): Promise<void> {
  await ask(service, 'POST', `${path}/simulate`, { body: { outcome } });
}

async function causeRefund(service: Service, payment: Payment, type: EventType): Promise<void> {
  if (type === 'refund.reorged' && (await isReorged(service, payment))) return;
  if (!OVER.includes(payment.status)) await simulate(service, payment, 'paid');
  const named = { [PAYMENT_KINDS[payment.api].refundField]: payment.id };
  const isPaid = type === 'refund.completed' || type === 'refund.reorged';
  const address = isPaid && payment.address !== '' ? otherAddress(payment.address) : undefined;
  const { head } = await readLog(service, { after: 'now', limit: 1 });
  const refund = await ask(service, 'POST', '/v1/refunds', { body: { ...named, ...(address && { address }) } });
  const id = textAt(JSON.parse(refund.text), 'id');
  if (type === 'refund.failed') await ask(service, 'POST', `/v1/refunds/${id}/cancel`);
  if (type !== 'refund.reorged') return;
  await eventsUntil(service, payment, 'refund.completed', head);
  await simulate(service, payment, 'refund_reorged');
}

/** Another address of the same form, because the payment's own takes no refund. */
function otherAddress(address: string): string {
  if (address.startsWith('0x')) return address.toLowerCase().replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
  const { prefix, words } = bech32.decode(address as `${string}1${string}`);
  const last = words.length - 1;
  return bech32.encode(
    prefix,
    words.map((word, index) => (index === last ? word ^ 1 : word)),
  );
}

/** Takes back a refund that is completed already; false if there is none. */
async function isReorged(service: Service, payment: Payment): Promise<boolean> {
  try {
    await simulate(service, payment, 'refund_reorged');
    return true;
  } catch (error) {
    if (error instanceof Refused && error.status === 400) return false;
    throw error;
  }
}

/** The payment's events after a position, up to the first one of this type. */
async function eventsUntil(
  service: Service,
  { id }: Payment,
  type: EventType,
  position: number,
): Promise<readonly LogEntry[]> {
  const until = performance.now() + PATIENCE_MS;
  const entries: LogEntry[] = [];
  let after = String(position);
  while (performance.now() < until) {
    const page = await readLog(service, { after, payment: id, waitSeconds: WAIT_SECONDS });
    entries.push(...page.entries);
    if (page.entries.some((entry) => 'event' in entry && entry.event.type === type)) return entries;
    after = page.next;
  }
  throw new CommandFailure(
    `${type} of ${id} did not come within ${PATIENCE_MS / 1_000} seconds. Is the service's worker running?`,
  );
}
