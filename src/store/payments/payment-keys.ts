import { sql, type RawBuilder } from 'kysely';
import { NETWORKS } from '../../domain/networks.ts';
import { PAYMENT_APIS, type PaymentApi } from '../../domain/payment.ts';
import type { Mode } from '../../domain/permission.ts';
import { allColumns } from '../tables.ts';
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

/**
 * A key that people search for: a whole text, or the beginning of a description; e-mail and description ignore case.
 */
export type PaymentKey =
  | { readonly kind: 'id'; readonly id: string; readonly api: PaymentApi }
  | { readonly kind: 'number' | 'order_id' | 'email' | 'description'; readonly text: string }
  /** The hash or address in each form in which a network may write it. */
  | { readonly kind: 'transaction_hash' | 'address'; readonly forms: readonly string[] }
  | { readonly kind: 'refund' | 'event'; readonly id: string };
export type PaymentKeyKind = PaymentKey['kind'];

/** A source and condition that find payments by a key. */
export interface KeyScan {
  /** A table or subquery called `payments`. */
  readonly source: RawBuilder<unknown>;
  readonly condition: RawBuilder<unknown>;
}

/** The index of descriptions contains this many characters of each. */
const INDEXED = 32;
const DESCRIPTION = sql`lower(left(description, 32))`;
/** Greater than every character: texts that begin with a text are below that text followed by this. */
const LAST_CHARACTER = '\u{10ffff}';
/**
 * If a thousand descriptions begin alike, no more than this many are read: the newest payments, and the last ones in
 * the order of their descriptions.
 */
const MAX_NEWEST = 1_000;
const MAX_ALIKE = 2_000;

/** How scans for keys are read. */
export interface Reading {
  readonly mode: Mode;
  /** The conditions of the scope, which limit descriptions that begin alike before they are cut off. */
  readonly within: RawBuilder<unknown>;
  /** Reads all descriptions that begin alike, without a limit. */
  readonly isWhole?: true;
}

/** The scans that find the payments of a key, each along an index. */
export function foundBy(key: PaymentKey, reading: Reading): readonly KeyScan[] {
  const { mode } = reading;
  const one = (condition: RawBuilder<unknown>): readonly KeyScan[] => [{ source: sql`payments`, condition }];
  switch (key.kind) {
    case 'id':
      return one(sql`id = ${key.id}::uuid and surface = ${key.api}`);
    case 'number':
      return one(sql`transaction_number = ${key.text}`);
    case 'order_id':
      return endedOrRunning(sql`merchant_order_id = ${key.text}`, reading);
    case 'email':
      return endedOrRunning(sql`customer_email is not null and lower(customer_email) = lower(${key.text})`, reading);
    case 'description':
      return byDescription(key.text, reading);
    case 'transaction_hash':
      return [
        ...one(
          sql`id = any (array(select payment_id from transfers where ${onNetworks('transaction_hash', key.forms)}))`,
        ),
        ...one(sql`id = any (array(
          select payment_id from refunds where transaction_hash is not null and transaction_hash = any (${key.forms}::text[])
          union all
          select payment_id from refunds where id in (
            select refund_id from refund_payouts where ${onNetworks('transaction_hash', key.forms)})))`),
        ...(mode === 'test' ? madeUp(sql`transaction_hash`, key.forms, reading) : []),
      ];
    case 'address':
      return mode === 'test'
        ? madeUp(
            sql`lower(address)`,
            key.forms.map((form) => form.toLowerCase()),
            reading,
          )
        : one(
            sql`id = any (array(select payment_id from payment_addresses where ${onNetworks('address', key.forms)}))`,
          );
    case 'refund':
      return one(sql`id = any (array(select payment_id from refunds where id = ${key.id}::uuid))`);
    case 'event':
      return one(sql`id = any (array(select payment_id from events where id = ${key.id}::uuid))`);
  }
}

/** Ended payments are read along the condition's own index, the others by status. */
function endedOrRunning(condition: RawBuilder<unknown>, reading: Reading): readonly KeyScan[] {
  return [{ source: sql`payments`, condition: sql`${HAS_ENDED} and ${condition}` }, running(condition, reading)];
}

/** Sorted outside the subquery: with `order by id` inside, the planner would walk the whole primary key. */
function running(condition: RawBuilder<unknown>, { within }: Reading): KeyScan {
  const ids = sql`select id from payments where ${within} and ${IS_RUNNING} and ${condition}`;
  return { source: sql`payments`, condition: sql`id = any (array(${ids}))` };
}

/** Addresses and hashes of test payments, whose ids are also found before sorting. */
function madeUp(value: RawBuilder<unknown>, forms: readonly string[], reading: Reading): readonly KeyScan[] {
  const column = sql`${value} is not null and ${value} = any (${[...new Set(forms)]}::text[])`;
  const ids = sql`select id from payments where mode = 'test' and ${HAS_ENDED} and ${column}`;
  return [{ source: sql`payments`, condition: sql`id = any (array(${ids}))` }, running(column, reading)];
}

/** The tables of chains have the network as first index column: each network is tried. */
function onNetworks(column: string, forms: readonly string[]): RawBuilder<unknown> {
  return sql`network = any (${[...NETWORKS]}::text[]) and ${sql.ref(column)} = any (${forms}::text[])`;
}

function byDescription(text: string, reading: Reading): readonly KeyScan[] {
  const { within, isWhole } = reading;
  const begin = sql`lower(left(${text}, ${INDEXED}::integer))`;
  const alike = sql`${DESCRIPTION} ~>=~ ${begin} and ${DESCRIPTION} ~<~ (${begin} || ${LAST_CHARACTER})`;
  const condition = sql`description is not null and ${alike} and starts_with(lower(description), lower(${text}))`;
  if (isWhole === true) return endedOrRunning(condition, reading);
  const newest = PAYMENT_APIS.map(
    (api) =>
      sql`(select ${allColumns('payments')} from payments where ${within} and surface = ${api} order by id desc limit ${MAX_NEWEST})`,
  );
  return [
    { source: sql`(${sql.join(newest, sql` union all `)}) payments`, condition },
    {
      source: sql`(select ${allColumns('payments')} from payments where ${within} and ${HAS_ENDED} and description is not null and ${alike}
        order by ${DESCRIPTION} using ~>~, id desc limit ${MAX_ALIKE}) payments`,
      condition,
    },
    running(condition, reading),
  ];
}
