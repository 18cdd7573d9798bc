import { sql, type RawBuilder } from 'kysely';
import { NETWORKS } from '../../domain/networks.ts';
import { PAYMENT_APIS, type PaymentApi } from '../../domain/payment.ts';
import { isFinal, PAYMENT_STATUSES, type PaymentStatus } from '../../domain/status.ts';

/**
 * Ended payments are in indexes of their own (`payments_ended_by_…`), which creations do not write to. A query along
 * such an index must union the open payments, which are few, since each expires.
 */
export const ENDED_STATUSES: readonly PaymentStatus[] = PAYMENT_STATUSES.filter(isFinal);
export const RUNNING_STATUSES: readonly PaymentStatus[] = PAYMENT_STATUSES.filter((status) => !isFinal(status));

const literals = (values: readonly string[]) => sql.join(values.map((value) => sql.lit(value)));

/** Repeats the predicate of the partial indexes, so that the planner uses them. */
export const HAS_ENDED = sql`status in (${literals(ENDED_STATUSES)})`;

/** Running payments within a project and mode, along the index of statuses. */
export const IS_RUNNING = sql`surface in (${literals(PAYMENT_APIS)}) and status in (${literals(RUNNING_STATUSES)})`;

/** The address of a payment's customer, compared byte by byte as in the index `payments_ended_by_customer`. */
export const ADDRESS = sql`lower(customer_email) collate "C"`;

/** Repeats the predicate of that index. */
export const HAS_ENDED_WITH_ADDRESS = sql`customer_email is not null and ${HAS_ENDED}`;

/** Identifiers of a payment beside its words: ids, and those that stand in other tables. */
export type PaymentKey =
  /** All payments of an API with ids from the first to the last of these. */
  | { readonly kind: 'id'; readonly from: string; readonly to: string; readonly api: PaymentApi }
  /** The hash or address in each form in which a network may write it. */
  | { readonly kind: 'transaction_hash' | 'address'; readonly forms: readonly string[] }
  | { readonly kind: 'refund' | 'event'; readonly id: string };

/** The condition on payments with a key, which an index finds. */
export function withKey(key: PaymentKey): RawBuilder<unknown> {
  switch (key.kind) {
    case 'id':
      return sql`(surface = ${key.api} and id between ${key.from}::uuid and ${key.to}::uuid)`;
    case 'transaction_hash':
      return sql`id = any (array(
        select payment_id from transfers where ${onNetworks('transaction_hash', key.forms)}
        union all
        select payment_id from refunds where transaction_hash is not null and transaction_hash = any (${key.forms}::text[])
        union all
        select payment_id from refunds where id in (
          select refund_id from refund_payouts where ${onNetworks('transaction_hash', key.forms)})))`;
    case 'address':
      return sql`id = any (array(select payment_id from payment_addresses where ${onNetworks('address', key.forms)}))`;
    case 'refund':
      return sql`id = any (array(select payment_id from refunds where id = ${key.id}::uuid))`;
    case 'event':
      return sql`id = any (array(select payment_id from events where id = ${key.id}::uuid))`;
  }
}

/** The tables of chains have the network as first index column: each network is tried. */
function onNetworks(column: string, forms: readonly string[]): RawBuilder<unknown> {
  return sql`network = any (${[...NETWORKS]}::text[]) and ${sql.ref(column)} = any (${forms}::text[])`;
}
