import { sql, type RawBuilder } from 'kysely';
import { NETWORKS } from '../../domain/networks.ts';
import { PAYMENT_APIS, type PaymentApi } from '../../domain/payment.ts';
import type { Mode } from '../../domain/permission.ts';
import { HAS_ENDED, IS_RUNNING } from './ended-payments.ts';
import { allColumns } from '../tables.ts';

/** What people search for. Whole texts, but of a description its beginning; e-mail and description in any case. */
export type PaymentKey =
  | { readonly kind: 'id'; readonly id: string; readonly api: PaymentApi }
  | { readonly kind: 'number' | 'order_id' | 'email' | 'description'; readonly text: string }
  /** In each form in which a network may write it. */
  | { readonly kind: 'transaction_hash' | 'address'; readonly forms: readonly string[] }
  | { readonly kind: 'refund' | 'event'; readonly id: string };
export type PaymentKeyKind = PaymentKey['kind'];

/** Where what a key means is read. */
export interface KeyScan {
  /** A table or subquery called `payments`. */
  readonly source: RawBuilder<unknown>;
  readonly condition: RawBuilder<unknown>;
}

/** As many characters of a description as its index has. */
const INDEXED = 32;
const DESCRIPTION = sql`lower(left(description, 32))`;
/** Greater than every character, so that a text followed by it ends all that begin with the text. */
const LAST_CHARACTER = '\u{10ffff}';
/**
 * Where a thousand descriptions begin alike, no more than these are read: the newest payments, and the last ones in the
 * order of their descriptions.
 */
const MAX_NEWEST = 1_000;
const MAX_ALIKE = 2_000;

/** How keys are read. */
export interface Reading {
  readonly mode: Mode;
  /** The conditions of the scope, which descriptions that begin alike need before they are cut off. */
  readonly within: RawBuilder<unknown>;
  /** Reads all descriptions that begin alike, however many. */
  readonly isWhole?: true;
}

/** Reads each meaning of a key along an index. */
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

/** What has ended is read along the condition's own index. */
function endedOrRunning(condition: RawBuilder<unknown>, reading: Reading): readonly KeyScan[] {
  return [{ source: sql`payments`, condition: sql`${HAS_ENDED} and ${condition}` }, running(condition, reading)];
}

/** Found first, and put in order after that: in the order of ids the planner would read every payment. */
function running(condition: RawBuilder<unknown>, { within }: Reading): KeyScan {
  const ids = sql`select id from payments where ${within} and ${IS_RUNNING} and ${condition}`;
  return { source: sql`payments`, condition: sql`id = any (array(${ids}))` };
}

/** Addresses and hashes of test payments, which are found before they are put in order as well. */
function madeUp(value: RawBuilder<unknown>, forms: readonly string[], reading: Reading): readonly KeyScan[] {
  const column = sql`${value} is not null and ${value} = any (${[...new Set(forms)]}::text[])`;
  const ids = sql`select id from payments where mode = 'test' and ${HAS_ENDED} and ${column}`;
  return [{ source: sql`payments`, condition: sql`id = any (array(${ids}))` }, running(column, reading)];
}

/** Tables of chains lead with the network: each is tried. */
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
