import { bech32 } from '@scure/base';
import { Argument, type Command } from 'commander';
import { EVENT_TYPES, isRefundEvent, type EventType } from '../../domain/event-type.ts';
import { decodeId, parseUuid } from '../../domain/id.ts';
import type { Simulation } from '../../domain/simulation.ts';
import { CommandFailure, UsageFailure } from '../failure.ts';
import { print, printsRecord, writeLines, type OutputOptions } from '../output.ts';
import { entryLines, entryRecord } from './log-lines.ts';
import { readLog, type LogEntry } from './log.ts';
import { ask, at, Refused, serviceOf, textAt, type Service } from './service.ts';

interface TriggerOptions extends OutputOptions {
  readonly order?: string;
}

/** The outcome that leads to an event of an order; refunds and cancelling have ways of their own. */
const OUTCOMES: Readonly<Partial<Record<EventType, Simulation>>> = {
  'order.confirming': 'confirming',
  'order.completed': 'paid',
  'order.expired': 'expired',
  'order.failed': 'failed',
  'order.exception': 'part',
  'payment.wrong_asset': 'wrong_asset',
};
/** A token, so that money can arrive in another asset of its network. */
const ORDER = { amount: 10, currency: 'USD', crypto_currency: 'USDC' };
/** Longer than the sandbox takes to pay a refund. */
const PATIENCE_MS = 30_000;
const WAIT_SECONDS = 15;

/** `cointill trigger`. */
export function addTriggerCommand(trigger: Command): void {
  printsRecord(trigger)
    .addArgument(new Argument('<event>', 'the type of the event').choices(EVENT_TYPES))
    .option('--order <id>', 'the test order (ord_…) or transaction that it happens to; by default a new order')
    .action(async (type: EventType, { order, ...options }: TriggerOptions) => {
      const service = serviceOf(process.env);
      if (service.mode !== 'test') throw new CommandFailure('COINTILL_KEY is a live key. Use a test key (sk_test_…).');
      if (type === 'payment.lost') {
        throw new CommandFailure('payment.lost happens to live payments alone, after a restore or a failover.');
      }
      if (type === 'order.created' && order !== undefined) {
        throw new UsageFailure('order.created happens when an order is created. Leave out --order.');
      }
      const { head } = await readLog(service, { after: 'now', limit: 1 });
      const payment = order === undefined ? await createOrder(service) : await readPayment(service, order);
      refuseImpossible(payment, type);
      const say = (line: string): void => (options.json === true ? undefined : writeLines([line]));
      if (order === undefined) say(`Created ${payment.id} over 10.00 USD. To use an order of yours, give --order.`);
      await cause(service, payment, type);
      const entries = await eventsUntil(service, payment, type, head);
      print(options, { payment: payment.id, events: entries.map((entry) => entryRecord(entry)) }, () =>
        entries.flatMap((entry) => entryLines(entry)),
      );
    });
}

interface Payment {
  readonly id: string;
  /** Where it is changed, such as `/v1/orders/ord_…`. */
  readonly path: string;
  readonly status: string;
  /** Empty while no token is chosen. */
  readonly address: string;
}

async function createOrder(service: Service): Promise<Payment> {
  const order = await ask(service, 'POST', '/v1/orders', { body: ORDER });
  // The answer to a creation lacks the address.
  return readPayment(service, textAt(JSON.parse(order.text), 'id'));
}

async function readPayment(service: Service, id: string): Promise<Payment> {
  const isOrder = decodeId('order', id) !== null;
  if (!isOrder && parseUuid(id) === null)
    throw new UsageFailure('--order must be the id of an order (ord_…) or a transaction.');
  const collection = isOrder ? '/v1/orders' : '/api/transactions';
  const body: unknown = JSON.parse((await ask(service, 'GET', `${collection}/${id}`)).text);
  return paymentOf(collection, isOrder ? body : at(body, 'transaction'));
}

function paymentOf(collection: string, body: unknown): Payment {
  const id = textAt(body, 'id');
  return { id, path: `${collection}/${id}`, status: textAt(body, 'status'), address: textAt(body, 'address') };
}

const OVER = ['completed', 'failed', 'expired', 'cancelled'];
const CONFIRMING = ['processing', 'confirming'];

/** Each of these events happens once to a payment, while it is open. */
function refuseImpossible({ id, status }: Payment, type: EventType): void {
  if (!type.startsWith('order.') || type === 'order.exception') return;
  if (!OVER.includes(status) && !(CONFIRMING.includes(status) && type === 'order.confirming')) return;
  throw new CommandFailure(`${id} is ${status}, so ${type} cannot happen to it any more. Use another order.`);
}

/** Makes the event happen by the calls that a shop would make, and by simulation. */
async function cause(service: Service, payment: Payment, type: EventType): Promise<void> {
  const outcome = OUTCOMES[type];
  if (outcome !== undefined) await simulate(service, payment, outcome);
  else if (type === 'order.cancelled') await ask(service, 'POST', `${payment.path}/cancel`);
  else if (isRefundEvent(type)) await causeRefund(service, payment, type);
}

async function simulate(service: Service, { path }: Payment, outcome: Simulation): Promise<void> {
  await ask(service, 'POST', `${path}/simulate`, { body: { outcome } });
}

async function causeRefund(service: Service, payment: Payment, type: EventType): Promise<void> {
  if (type === 'refund.reorged' && (await isReorged(service, payment))) return;
  if (!OVER.includes(payment.status)) await simulate(service, payment, 'paid');
  const named = payment.id.startsWith('ord_') ? { order_id: payment.id } : { transaction_id: payment.id };
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
