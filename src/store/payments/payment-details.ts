import { sql } from 'kysely';
import type { AssetCode } from '../../domain/asset-code.ts';
import type { Network } from '../../domain/networks.ts';
import { publicPaymentId } from '../../domain/payment-kind.ts';
import type { Payment, Transfer } from '../../domain/payment.ts';
import type { Refund, RefundedMoney } from '../../domain/refund.ts';
import { otherMoney } from '../../domain/other-money.ts';
import { encodeId } from '../../domain/id.ts';
import { withChosenAddress, refundedMoney, refundsOfPayment } from '../refunds/refunds.ts';
import { timestamp, type Database, type Trx } from '../database.ts';
import type { Stored } from '../rows.ts';
import { isDigestOfKey } from '../projects/answers.ts';
import { labelsOfPayments, notesOf, type ReadNote } from './notes.ts';
import { eventsOf, type EventRecord } from './payment-events.ts';
import { findPayments, listTransitions, type TransitionRecord } from './payments.ts';
import { payoutsOf, type RefundPayout } from '../refunds/refund-payouts.ts';
import { findTransfers } from './transfers.ts';

/** An address with the quote that it was handed out for. */
export interface IssuedAddressRecord extends Pick<
  Stored<'payment_addresses'>,
  'network' | 'asset' | 'decimals' | 'owedUnits' | 'index' | 'issuedAt' | 'watchUntil'
> {
  /** The address in the form in which the chain's transfers carry it. */
  readonly address: string;
}

/** The time of a quote, for a new address or an address that already had one. */
export type QuoteRecord = Pick<Stored<'payment_quotes'>, 'network' | 'asset' | 'address' | 'owedUnits' | 'quotedAt'>;

/** An action on the payment or one of its refunds, in the dashboard or on the command line. */
export interface ActionRecord {
  readonly at: number;
  readonly action: string;
  readonly by: string;
  /** The name of that person as it is now; null: none, or no person. */
  readonly byName: string | null;
  /** The name of a label or the amount of a refund; null for other actions. */
  readonly detail: string | null;
  /** The public id of the payment or refund. */
  readonly subject: string | null;
}

/** The money that a payment's refunds took in one token. */
export interface TakenMoney extends RefundedMoney {
  readonly asset: AssetCode;
  readonly network: Network;
}

/** Everything stored about one payment, from one snapshot. */
export interface PaymentDetails {
  readonly payment: Payment;
  readonly transitions: readonly TransitionRecord[];
  readonly transfers: readonly Transfer[];
  readonly addresses: readonly IssuedAddressRecord[];
  /** Newest first. */
  readonly quotes: readonly QuoteRecord[];
  readonly events: readonly EventRecord[];
  readonly refunds: readonly Refund[];
  /** The ids of the refunds whose address the merchant gave. */
  readonly withChosenAddress: ReadonlySet<string>;
  /** The payouts of pending refunds, by the refunds' ids. */
  readonly payouts: ReadonlyMap<string, RefundPayout>;
  /** The part of the current quote's money that its refunds take. */
  readonly refundedUnits: bigint;
  /** The money that its refunds take of each received token, the quote's included. */
  readonly taken: readonly TakenMoney[];
  /** Oldest first. */
  readonly notes: readonly ReadNote[];
  readonly labels: readonly string[];
  readonly actions: readonly ActionRecord[];
  readonly idempotencyKey: string | null;
}

/** No list is read beyond this length: a hostile sender of dust can make any number of transfers. */
const MAX_EACH = 500;

/** Reads the payment in one snapshot, each part along an index; null if there is no such payment. */
export async function findPaymentDetails(db: Database, id: string): Promise<PaymentDetails | null> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      const [payment] = await findPayments(trx, [id]);
      if (payment === undefined) return null;
      const transfers = ((await findTransfers(trx, [id])).get(id) ?? []).slice(0, MAX_EACH);
      const refunds = await refundsOfPayment(trx, id, MAX_EACH);
      const taken = await takenOf(trx, payment, transfers);
      return {
        payment,
        transitions: await listTransitions(trx, id, MAX_EACH),
        transfers,
        ...(await addressesOf(trx, id)),
        events: await eventsOf(trx, id, MAX_EACH),
        refunds,
        withChosenAddress: await withChosenAddress(trx, refunds),
        payouts: await pendingPayouts(trx, refunds),
        refundedUnits: taken.find((one) => isQuoted(payment, one))?.units ?? 0n,
        taken,
        notes: await notesOf(trx, id, MAX_EACH),
        labels: (await labelsOfPayments(trx, [id])).get(id) ?? [],
        actions: await actionsOf(trx, payment, refunds),
        idempotencyKey: await idempotencyKeyOf(trx, payment),
      };
    });
}

async function pendingPayouts(trx: Trx, refunds: readonly Refund[]): Promise<ReadonlyMap<string, RefundPayout>> {
  const pending = refunds.filter(({ status, mode }) => status === 'pending' && mode === 'live');
  if (pending.length === 0) return new Map();
  return payoutsOf(
    trx,
    pending.map(({ id }) => id),
  );
}

function isQuoted({ quote }: Payment, { asset, network }: Pick<TakenMoney, 'asset' | 'network'>): boolean {
  return quote?.asset === asset && quote.network === network;
}

async function takenOf(trx: Trx, payment: Payment, transfers: readonly Transfer[]): Promise<readonly TakenMoney[]> {
  const { quote } = payment;
  const tokens = [...(quote === null ? [] : [quote]), ...otherMoney(payment, transfers)];
  const taken: TakenMoney[] = [];
  for (const { asset, network } of tokens) {
    taken.push({ asset, network, ...(await refundedMoney(trx, payment.id, { asset, network })) });
  }
  return taken;
}

async function addressesOf(
  trx: Trx,
  paymentId: string,
): Promise<{ readonly addresses: readonly IssuedAddressRecord[]; readonly quotes: readonly QuoteRecord[] }> {
  const addresses = await trx
    .selectFrom('payment_addresses')
    .select(['network', 'address', 'asset', 'decimals', 'owed_units as owedUnits', 'address_index as index'])
    .select(['issued_at as issuedAt', 'watch_until as watchUntil'])
    .where('payment_id', '=', paymentId)
    .orderBy('issued_at', 'desc')
    .orderBy('address_index', 'desc')
    .limit(MAX_EACH)
    .execute();
  const again = await trx
    .selectFrom('payment_quotes')
    .select(['network', 'address', 'asset', 'owed_units as owedUnits', 'quoted_at as quotedAt'])
    .where('payment_id', '=', paymentId)
    .orderBy('id', 'desc')
    .limit(MAX_EACH)
    .execute();
  const first = addresses.map(({ network, address, asset, owedUnits, issuedAt: quotedAt }) => ({
    network,
    address,
    asset,
    owedUnits,
    quotedAt,
  }));
  return { addresses, quotes: [...again, ...first].toSorted((a, b) => b.quotedAt - a.quotedAt) };
}

async function actionsOf(trx: Trx, payment: Payment, refunds: readonly Refund[]): Promise<readonly ActionRecord[]> {
  const rows = await trx
    .selectFrom('audit_log')
    .select(['at', 'action', 'actor_name as by', 'subject_id as subject', 'before', 'after'])
    .select(sql<string | null>`(select name from people where people.id = audit_log.actor_id)`.as('byName'))
    // The audit log has only a label's id: its name is in its own table, and is deleted with it.
    .select(
      sql<string | null>`(select name from labels where labels.project_id = audit_log.project_id
        and labels.id::text = coalesce(after, before) ->> 'label_id')`.as('label'),
    )
    .where('project_id', '=', payment.projectId)
    .where((where) => {
      const of = (kind: string, ids: readonly string[]) =>
        where.and([where('subject_kind', '=', kind), where('subject_id', 'in', ids)]);
      const ids = refunds.map((refund) => encodeId('refund', refund.id));
      const own = of('payment', [publicPaymentId(payment)]);
      return ids.length === 0 ? own : where.or([own, of('refund', ids)]);
    })
    .orderBy('id')
    .limit(MAX_EACH)
    .execute();
  return rows.map(({ before, after, label, ...row }) => ({
    ...row,
    detail: label ?? detailOf({ ...before, ...after }),
  }));
}

function detailOf({ label, crypto_amount: amount, asset }: Readonly<Record<string, unknown>>): string | null {
  if (typeof label === 'string') return label;
  return typeof amount === 'string' && typeof asset === 'string' ? `${amount} ${asset}` : null;
}

/** The idempotency key of a payment: the stored answer has the time of its creation, and names it. */
async function idempotencyKeyOf(trx: Trx, payment: Payment): Promise<string | null> {
  const row = await trx
    .selectFrom('idempotency_keys')
    .select('key')
    .where('created_at', '=', timestamp(payment.createdAt))
    .where('project_id', '=', payment.projectId)
    .where('mode', '=', payment.mode)
    // Keys of dashboard forms are internal.
    .where('route', 'not like', 'dashboard %')
    .where(sql<boolean>`position(${publicPaymentId(payment)} in response) > 0`)
    .executeTakeFirst();
  return row === undefined || isDigestOfKey(row.key) ? null : row.key;
}
