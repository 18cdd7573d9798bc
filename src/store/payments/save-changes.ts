import { CompiledQuery, sql } from 'kysely';
import type { QueryResult } from 'pg';
import type { EventType } from '../../domain/event-type.ts';
import type { Transition } from '../../domain/transition.ts';
import type { Payment, Quote } from '../../domain/payment.ts';
import { isoTime } from '../../wire/time.ts';
import { paymentRecords } from './payment-rows.ts';
import { touchRequests } from './payment-requests.ts';
import type { Statement, StatementRunner } from '../pipeline.ts';
import { type Stored, insertRows } from '../rows.ts';
import {
  IDEMPOTENCY_KEYS,
  PAYMENT_ADDRESSES,
  PAYMENT_TRANSITIONS,
  PAYMENT_DAY_COUNTS,
  PAYMENTS,
  type CountShard,
} from '../schema/payments.ts';
import { EVENTS } from '../schema/webhooks.ts';
import { messagesStatement, type NewMessage } from '../webhooks/shop-messages.ts';
import type { Database, Trx } from '../database.ts';
import { wake } from '../wake.ts';

/** An event ready to be stored. */
export type NewEvent = Stored<'events'> & { readonly type: EventType };

/** An address handed out for a payment, with the quote it was handed out for. */
export interface IssuedAddress extends Pick<
  Stored<'payment_addresses'>,
  'paymentId' | 'watchedAddress' | 'confirmations' | 'afterBlock' | 'issuedAt' | 'watchUntil'
> {
  readonly quote: Quote;
  readonly walletId: string;
  readonly index: number;
}

/** A stored answer: the same request with the same key gets it again within 24 hours. */
export type IdempotentAnswer = Stored<'idempotency_keys'>;

/** One payment, new (`before` null) or changed, with everything that must be saved together with it. */
export interface PaymentChange {
  readonly before: Payment | null;
  readonly after: Payment;
  readonly dueAt: number | null;
  readonly transitions: readonly Transition[];
  readonly events: readonly NewEvent[];
  /** The messages that shops' plugins get of an invoice, in order. */
  readonly messages?: readonly NewMessage[] | undefined;
  readonly address?: IssuedAddress | undefined;
}

/**
 * The additions to the day counters and subtractions from them, in the order in which every writer locks their rows.
 */
function countRecords(changes: readonly PaymentChange[], shard: CountShard): string {
  const deltas = new Map<string, { readonly of: Payment; readonly day: string; payments: bigint; usdCents: bigint }>();
  const add = (payment: Payment, count: 1n | -1n): void => {
    const day = isoTime(payment.createdAt).slice(0, 10);
    const key = `${payment.projectId} ${payment.mode} ${payment.api} ${day} ${payment.status}`;
    const delta = deltas.get(key) ?? { of: payment, day, payments: 0n, usdCents: 0n };
    delta.payments += count;
    delta.usdCents += count * payment.amountUsdCents;
    deltas.set(key, delta);
  };
  for (const { before, after } of changes) {
    if (before?.status === after.status) continue;
    if (before !== null) add(before, -1n);
    add(after, 1n);
  }
  return PAYMENT_DAY_COUNTS.records(
    [...deltas.entries()]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([, { of, ...delta }]) => {
        const { projectId, mode, api, status } = of;
        return { count: { projectId, mode, api, status, shard, ...delta } };
      }),
  );
}

/** The text never changes, so that it is compiled once here and prepared once by the server. */
const SAVE = `
  with new_payments as (
    ${PAYMENTS.insert('$1')}
  ), changed_payments as (
    ${PAYMENTS.update('$2')}
  ), new_arrows as (
    ${PAYMENT_TRANSITIONS.insert('$3')}
  ), new_addresses as (
    ${PAYMENT_ADDRESSES.insert('$4')}
  ), new_answers as (
    ${IDEMPOTENCY_KEYS.insert('$5')}
  ), counted as (
    ${PAYMENT_DAY_COUNTS.insert('$6')}
    on conflict (project_id, mode, surface, day, status, shard) do update
    set payments = payment_day_counts.payments + excluded.payments,
        usd_cents = payment_day_counts.usd_cents + excluded.usd_cents
  ), new_events as materialized (
    ${EVENTS.insert('$7')}
    returning id, project_id, mode, type, created_at
  ), new_deliveries as (
    insert into deliveries (event_id, endpoint_id, state, next_attempt_at, created_at)
    select e.id, w.id, 'waiting', least(e.created_at, clock_timestamp()), e.created_at
    from new_events e
    join webhook_endpoints w on w.project_id = e.project_id and w.mode = e.mode and e.type = any (w.events)
    where w.deleted_at is null and w.disabled_at is null
    returning 1
  )
  select exists (select from new_deliveries) as "hasDeliveries"`;

/**
 * Saves new and changed payments with their transitions, events, deliveries, counters, addresses and idempotent answers
 * in one statement, so that after a crash either everything is saved or nothing. It creates a delivery for each event
 * and endpoint registered for its type, and wakes every process for the payments that changed. The caller must hold
 * the locks of changed payments. A delivery is due at once, also where this process's clock is ahead. A second
 * statement saves the messages of invoices, a third one makes the requests that they pay due.
 */
export async function saveChanges(
  trx: Trx,
  changes: readonly PaymentChange[],
  shard: CountShard,
  answers: readonly IdempotentAnswer[] = [],
): Promise<void> {
  const saved = await trx.executeQuery(saveStatement(changes, shard, answers));
  const messages = messagesIn(changes);
  const queued = messages === null ? null : await trx.executeQuery(messages);
  const changed = changes.flatMap(({ before, after }) => (before === null ? [] : [after.id]));
  await wake(
    trx,
    ...(savedDeliveries(saved) || (queued !== null && savedDeliveries(queued)) ? [['deliveries'] as const] : []),
    ...(changed.length > 0 ? [['payments', ...changed] as const] : []),
  );
  const requests = changes.flatMap(({ before, after }) =>
    before === null || after.paymentRequestId === null ? [] : [after.paymentRequestId],
  );
  if (requests.length > 0) await trx.executeQuery(touchRequests([...new Set(requests)]));
}

/** The statement that saves the messages of these changes, behind that of {@link saveStatement}; null without any. */
export function messagesIn(changes: readonly PaymentChange[]): Statement | null {
  const messages = changes.flatMap((change) => change.messages ?? []);
  return messages.length === 0 ? null : messagesStatement(messages);
}

/** Whether a statement of {@link saveStatement} made deliveries. */
export function savedDeliveries({ rows }: Pick<QueryResult, 'rows'>): boolean {
  return (rows as readonly { readonly hasDeliveries?: boolean }[])[0]?.hasDeliveries === true;
}

/** The statement that saves the changes, to be sent together with others. */
export function saveStatement(
  changes: readonly PaymentChange[],
  shard: CountShard,
  answers: readonly IdempotentAnswer[] = [],
): Statement {
  const created = changes.filter((change) => change.before === null);
  const changed = changes.filter((change) => change.before !== null);
  const parameters = [
    paymentRecords(created),
    paymentRecords(changed),
    PAYMENT_TRANSITIONS.records(
      changes.flatMap(({ after, transitions }) => transitions.map((transition) => ({ transition, payment: after }))),
    ),
    PAYMENT_ADDRESSES.records(
      changes.flatMap(({ address }) => (address === undefined ? [] : [{ issued: address, quote: address.quote }])),
    ),
    IDEMPOTENCY_KEYS.records(answers.map((answer) => ({ answer }))),
    countRecords(changes, shard),
    EVENTS.records(changes.flatMap(({ events }) => events.map((event) => ({ event })))),
  ];
  return CompiledQuery.raw(SAVE, parameters);
}

const SAVE_EVENTS = EVENTS.insert('$1');

/** Stores events without sending them. */
export async function saveEvents(runner: StatementRunner, events: readonly Stored<'events'>[]): Promise<void> {
  const records = EVENTS.records(events.map((event) => ({ event })));
  await runner.executeQuery(CompiledQuery.raw(SAVE_EVENTS, [records]));
}

/** A quote for an address, made when the address was handed out or later. */
export type IssuedQuote = Omit<Stored<'payment_quotes'>, 'id' | 'quotedAt'>;

/** All quotes of these payments, newest first. */
export async function issuedQuotes(
  executor: Database | Trx,
  paymentIds: readonly string[],
): Promise<readonly IssuedQuote[]> {
  const { rows } = await sql<IssuedQuote>`
    select payment_id as "paymentId", network, address, asset, decimals, owed_units as "owedUnits",
      tolerance_units as "toleranceUnits"
    from (
      select payment_id, network, address, asset, decimals, owed_units, tolerance_units, issued_at as quoted_at, 0 as id, address_index
      from payment_addresses where payment_id = any (${paymentIds}::uuid[])
      union all
      select payment_id, network, address, asset, decimals, owed_units, tolerance_units, quoted_at, id, 0
      from payment_quotes where payment_id = any (${paymentIds}::uuid[])
    ) quotes
    order by quoted_at desc, id desc, address_index desc`.execute(executor);
  return rows;
}

/** Saves a new quote for an address that the payment already had. */
export async function saveQuoteAgain(
  trx: Trx,
  { paymentId, quote, watchedAddress, issuedAt }: IssuedAddress,
): Promise<void> {
  const row = { ...quote, paymentId, address: watchedAddress, quotedAt: issuedAt };
  await insertRows(trx, 'payment_quotes', [row], { without: ['id'] });
}
