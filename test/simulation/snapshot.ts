import type { Network } from '../../src/domain/networks.ts';
import type { Payment } from '../../src/domain/payment.ts';
import type { Transition } from '../../src/domain/transition.ts';
import type { Database } from '../../src/store/database.ts';
import { paymentFromRow } from '../../src/store/payments/payment-rows.ts';

/** The database's content at one moment. */
export type Snapshot = Awaited<ReturnType<typeof takeSnapshot>>;
export type TransferRow = Snapshot['transfers'][number];
export type AddressRow = Snapshot['addresses'][number];

export async function takeSnapshot(db: Database) {
  const [payments, addresses, transfers, cursors, transitions, refunds, indexes] = await Promise.all([
    db.selectFrom('payments').selectAll().orderBy('id').execute(),
    db.selectFrom('payment_addresses').selectAll().orderBy('issued_at').orderBy('address').execute(),
    db.selectFrom('transfers').selectAll().execute(),
    db.selectFrom('chain_cursors').selectAll().execute(),
    db.selectFrom('payment_arrows').selectAll().orderBy('id').execute(),
    db.selectFrom('refunds').selectAll().execute(),
    db.selectFrom('address_indexes').selectAll().execute(),
  ]);
  return {
    payments: payments.map(paymentFromRow),
    addresses,
    transfers,
    cursors: new Map(cursors.map((row) => [row.network, row])),
    transitions: Map.groupBy(transitions, (row) => row.payment_id),
    refunds,
    indexes,
  };
}

/** Identifies a transfer within its network. */
export function transferKey(transfer: {
  readonly network: Network;
  readonly hash: string;
  readonly asset: string;
  readonly index: number;
}): string {
  return `${transfer.network} ${transfer.hash} ${transfer.asset} ${transfer.index}`;
}

export type Walked = Pick<Transition, 'from' | 'to'> & { readonly cause: string; readonly at: number };

/** The transitions that a payment went through, in order. */
export function transitionsOf(snapshot: Snapshot, payment: Payment): readonly Walked[] {
  return (snapshot.transitions.get(payment.id) ?? []).map((row) => ({
    from: row.from_status,
    to: row.to_status,
    cause: row.cause,
    at: row.at,
  }));
}
