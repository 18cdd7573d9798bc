import { sql } from 'kysely';
import type { AssetCode } from '../domain/asset.ts';
import type { Network } from '../domain/networks.ts';
import { publicPaymentId } from '../wire/payment.ts';
import type { Payment, Transfer } from '../domain/payment.ts';
import type { Refund } from '../domain/refund.ts';
import type { PaymentStatus } from '../domain/status.ts';
import { timestamp, type Database, type Trx } from './database.ts';
import { findPayments } from './payments.ts';
import { refundedMoney, refundsOfPayment } from './refunds.ts';
import type { DeliveryState } from './schema/webhooks.ts';
import { findTransfers } from './transfers.ts';

/** An address with the quote that it was handed out for. */
export interface IssuedAddressRecord {
  /** In the form in which the chain's transfers carry it. */
  readonly address: string;
  readonly network: Network;
  readonly asset: AssetCode;
  readonly decimals: number;
  readonly owedUnits: bigint;
  readonly index: number | null;
  readonly issuedAt: number;
  readonly watchUntil: number;
}

/** When a quote was given, at first for an address or again. */
export interface QuoteRecord {
  readonly network: Network;
  readonly asset: AssetCode;
  readonly address: string;
  readonly owedUnits: bigint;
  readonly quotedAt: number;
}

export interface AttemptRecord {
  readonly manual: boolean;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly responseStatus: number | null;
  readonly error: string | null;
}

export interface DeliveryRecord {
  readonly id: bigint;
  readonly url: string;
  readonly state: DeliveryState;
  readonly nextAttemptAt: number | null;
  readonly attempts: readonly AttemptRecord[];
}

export interface EventRecord {
  readonly id: string;
  readonly type: string;
  readonly createdAt: number;
  readonly deliveries: readonly DeliveryRecord[];
}

export interface TransitionRecord {
  readonly from: PaymentStatus;
  readonly to: PaymentStatus;
  readonly cause: string;
  readonly at: number;
}

/** What somebody did to the payment in the dashboard. */
export interface ActionRecord {
  readonly at: number;
  readonly action: string;
  readonly by: string;
}

/** Everything that is kept of one payment, as it was at one moment. */
export interface PaymentDetails {
  readonly payment: Payment;
  readonly transitions: readonly TransitionRecord[];
  readonly transfers: readonly Transfer[];
  readonly addresses: readonly IssuedAddressRecord[];
  /** The newest first. */
  readonly quotes: readonly QuoteRecord[];
  readonly events: readonly EventRecord[];
  readonly refunds: readonly Refund[];
  /** What its refunds take of the current quote's money. */
  readonly refundedUnits: bigint;
  readonly actions: readonly ActionRecord[];
  readonly idempotencyKey: string | null;
}

/** Longer than this no list of anything is read: a hostile sender of dust can make any number of transfers. */
const MAX_EACH = 500;

/** Reads it in one snapshot, each part along an index; null when there is no such payment. */
export async function findPaymentDetails(db: Database, id: string): Promise<PaymentDetails | null> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      const [payment] = await findPayments(trx, [id]);
      if (payment === undefined) return null;
      const { quote } = payment;
      return {
        payment,
        transitions: await transitionsOf(trx, id),
        transfers: ((await findTransfers(trx, [id])).get(id) ?? []).slice(0, MAX_EACH),
        ...(await addressesOf(trx, id)),
        events: await eventsOf(trx, id),
        refunds: await refundsOfPayment(trx, id, MAX_EACH),
        refundedUnits: quote === null ? 0n : (await refundedMoney(trx, id, quote)).units,
        actions: await actionsOf(trx, payment),
        idempotencyKey: await idempotencyKeyOf(trx, payment),
      };
    });
}

async function transitionsOf(trx: Trx, paymentId: string): Promise<readonly TransitionRecord[]> {
  const rows = await trx
    .selectFrom('payment_arrows')
    .select(['from_status', 'to_status', 'cause', 'at'])
    .where('payment_id', '=', paymentId)
    .orderBy('id')
    .limit(MAX_EACH)
    .execute();
  return rows.map((row) => ({ from: row.from_status, to: row.to_status, cause: row.cause, at: row.at }));
}

async function addressesOf(
  trx: Trx,
  paymentId: string,
): Promise<{ readonly addresses: readonly IssuedAddressRecord[]; readonly quotes: readonly QuoteRecord[] }> {
  const issued = await trx
    .selectFrom('payment_addresses')
    .select(['network', 'address', 'asset', 'decimals', 'owed_units', 'address_index', 'issued_at', 'watch_until'])
    .where('payment_id', '=', paymentId)
    .orderBy('issued_at', 'desc')
    .orderBy('address_index', 'desc')
    .limit(MAX_EACH)
    .execute();
  const again = await trx
    .selectFrom('payment_quotes')
    .select(['network', 'address', 'asset', 'owed_units', 'quoted_at'])
    .where('payment_id', '=', paymentId)
    .orderBy('id', 'desc')
    .limit(MAX_EACH)
    .execute();
  const quotes = [...again, ...issued.map((row) => ({ ...row, quoted_at: row.issued_at }))];
  return {
    addresses: issued.map((row) => ({
      address: row.address,
      network: row.network,
      asset: row.asset,
      decimals: row.decimals,
      owedUnits: row.owed_units,
      index: row.address_index,
      issuedAt: row.issued_at,
      watchUntil: row.watch_until,
    })),
    quotes: quotes
      .map((row) => ({
        network: row.network,
        asset: row.asset,
        address: row.address,
        owedUnits: row.owed_units,
        quotedAt: row.quoted_at,
      }))
      .toSorted((a, b) => b.quotedAt - a.quotedAt),
  };
}

/** The oldest first. Deliveries and their attempts are forgotten after a while, and then their events stand alone. */
async function eventsOf(trx: Trx, paymentId: string): Promise<readonly EventRecord[]> {
  const events = await trx
    .selectFrom('events')
    .select(['id', 'type', 'created_at'])
    .where('payment_id', '=', paymentId)
    .orderBy('created_at')
    // Ids of one millisecond are in no order.
    .orderBy(sql`(body::jsonb ->> 'sequence')::bigint`)
    .limit(MAX_EACH)
    .execute();
  if (events.length === 0) return [];
  const deliveries = await trx
    .selectFrom('deliveries as d')
    .innerJoin('webhook_endpoints as w', 'w.id', 'd.endpoint_id')
    .select(['d.id', 'd.event_id', 'd.state', 'd.next_attempt_at', 'w.url'])
    .where(
      'd.event_id',
      'in',
      events.map(({ id }) => id),
    )
    .orderBy('d.id')
    .limit(MAX_EACH)
    .execute();
  const attempts = await attemptsOf(
    trx,
    deliveries.map(({ id }) => id),
  );
  const byEvent = Map.groupBy(deliveries, (delivery) => delivery.event_id);
  return events.map((event) => ({
    id: event.id,
    type: event.type,
    createdAt: event.created_at,
    deliveries: (byEvent.get(event.id) ?? []).map(({ id, url, state, next_attempt_at }) => ({
      id,
      url,
      state,
      nextAttemptAt: next_attempt_at,
      attempts: attempts.get(id) ?? [],
    })),
  }));
}

async function attemptsOf(
  trx: Trx,
  deliveryIds: readonly bigint[],
): Promise<ReadonlyMap<bigint, readonly AttemptRecord[]>> {
  if (deliveryIds.length === 0) return new Map();
  const rows = await trx
    .selectFrom('delivery_attempts')
    .select(['delivery_id', 'manual', 'started_at', 'duration_ms', 'response_status', 'error'])
    .where('delivery_id', 'in', deliveryIds)
    .orderBy('id')
    .limit(MAX_EACH)
    .execute();
  const groups = Map.groupBy(rows, (row) => row.delivery_id);
  return new Map(
    [...groups].map(([id, group]) => [
      id,
      group.map((row) => ({
        manual: row.manual,
        startedAt: row.started_at,
        durationMs: row.duration_ms,
        responseStatus: row.response_status,
        error: row.error,
      })),
    ]),
  );
}

async function actionsOf(trx: Trx, payment: Payment): Promise<readonly ActionRecord[]> {
  const rows = await trx
    .selectFrom('audit_log')
    .select(['at', 'action', 'actor_name'])
    .where('subject_kind', '=', 'payment')
    .where('subject_id', '=', publicPaymentId(payment))
    .where('project_id', '=', payment.projectId)
    .orderBy('id')
    .limit(MAX_EACH)
    .execute();
  return rows.map((row) => ({ at: row.at, action: row.action, by: row.actor_name }));
}

/** An answer is kept with the time of its payment's creation, and names the payment. */
async function idempotencyKeyOf(trx: Trx, payment: Payment): Promise<string | null> {
  const row = await trx
    .selectFrom('idempotency_keys')
    .select('key')
    .where('created_at', '=', timestamp(payment.createdAt))
    .where('project_id', '=', payment.projectId)
    .where('mode', '=', payment.mode)
    .where(sql<boolean>`position(${publicPaymentId(payment)} in response) > 0`)
    .executeTakeFirst();
  return row?.key ?? null;
}
