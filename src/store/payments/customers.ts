import { sql, type RawBuilder } from 'kysely';
import type { Fiat } from '../../domain/money.ts';
import { PAYMENT_APIS, type Payment, type PaymentApi } from '../../domain/payment.ts';
import type { ProjectMode } from '../../domain/permission.ts';
import type { Refund } from '../../domain/refund.ts';
import type { Database } from '../database.ts';
import { rateJoin, valueIn } from '../figures/currency-rates.ts';
import { findRefunds } from '../refunds/refunds.ts';
import { WAS_PAID } from '../refunds/refund-payouts.ts';
import { count, total } from '../reports/report-sums.ts';
import { ADDRESS, HAS_ENDED_WITH_ADDRESS, IS_RUNNING } from './payment-keys.ts';

type Expression = RawBuilder<unknown>;

/** A customer, as the payments with one e-mail address say. */
export interface Customer {
  /** In lower case. */
  readonly email: string;
  /** At most {@link MAX_SUMMED}, the newest. */
  readonly payments: number;
  /** Whether there are more, so that the sums are not those of all payments. */
  readonly isMore: boolean;
  readonly completed: number;
  /** The completed payments at the rates of their creation, in the smallest unit of the project's currency. */
  readonly value: bigint;
  /** Paid refunds at the rates of their payout, likewise. */
  readonly refunded: bigint;
  /** The completed payments and paid refunds that are in neither sum, because their rate is unknown. */
  readonly unvalued: number;
  /** The creation of the newest payment, in epoch milliseconds, and its id. */
  readonly lastAt: number;
  readonly lastId: string;
}

interface CustomerSearch {
  /** The beginning of an address; empty: all. */
  readonly search: string;
  /** The newest payment of the customer before the page. */
  readonly after: string | null;
  readonly limit: number;
}

/** How many of the newest payments are read at first for a page of customers. */
const NEAR = 1_000;
/** The number of customers who are all read, one index entry each, before more of the newest payments are. */
const FEW = 2_000;
/** The most payments of a customer that are added up: a shop may give one address for all who have none. */
const MAX_SUMMED = 10_000;

/** A page of a project's customers, those with the newest payments first. */
export async function findCustomers(
  db: Database,
  scope: ProjectMode,
  currency: Fiat,
  page: CustomerSearch,
): Promise<readonly Customer[]> {
  const addresses = await addressesOf(db, scope, page);
  if (addresses.length === 0) return [];
  const { rows } = await customerSums(scope, currency, sql`${addresses}::text[]`).execute(db);
  const byAddress = new Map(rows.map((row) => [row.email, row]));
  return addresses.flatMap((address) => byAddress.get(address) ?? []);
}

/** The customer with this address; null if no payment has it. */
export async function findCustomer(
  db: Database,
  scope: ProjectMode,
  currency: Fiat,
  email: string,
): Promise<Customer | null> {
  const { rows } = await customerSums(scope, currency, sql`array[${lowered(email)}]`).execute(db);
  return rows[0] ?? null;
}

/** A page of addresses. A customer's place is that of the newest payment. */
async function addressesOf(db: Database, scope: ProjectMode, page: CustomerSearch): Promise<readonly string[]> {
  let before = page.after;
  let found: readonly string[] = [];
  for (let size = NEAR; ; size *= 4) {
    const near = await newestAmong(db, scope, page.search, { before, size, limit: page.limit - found.length });
    found = [...found, ...near.addresses];
    if (found.length >= page.limit || near.read < size) return found;
    // Few have this beginning, or one customer made most of the payments.
    const few = size === NEAR ? await fewAddresses(db, scope, page) : null;
    if (few !== null) return few;
    before = near.last;
  }
}

/** The customers whose newest payment is among the `size` payments before one, newest first, and the last one read. */
async function newestAmong(
  db: Database,
  scope: ProjectMode,
  search: string,
  { before, size, limit }: { readonly before: string | null; readonly size: number; readonly limit: number },
) {
  const until = before === null ? sql`` : sql`and id < ${before}::uuid`;
  const each = PAYMENT_APIS.map(
    (api) => sql`(select id, ${ADDRESS} as address from payments
      where ${within(scope)} and surface = ${api} ${until} order by id desc limit ${size})`,
  );
  const { rows } = await sql<{
    readonly addresses: readonly string[];
    readonly read: number;
    readonly last: string | null;
  }>`
    with running as materialized (${running(scope, search)}),
      near as materialized (select * from (${sql.join(each, sql` union all `)}) n order by id desc limit ${size}),
      found as (
        select address, id from (
          select distinct on (address) address, id from near where address is not null and ${beginsWith(sql`address`, search)}
          order by address, id desc) n
        where not exists (select from payments p where ${ended(scope)} and ${ADDRESS} = n.address and p.id > n.id)
          and not exists (select from running r where r.address = n.address and r.id > n.id)
        order by id desc limit ${limit})
    select array(select address from found order by id desc) as addresses, (select count(*)::integer from near) as read,
      (select id from near order by id limit 1) as last`.execute(db);
  return rows[0] ?? { addresses: [], read: 0, last: null };
}

/** A page of addresses, from all of them; null if they are too many. */
async function fewAddresses(
  db: Database,
  scope: ProjectMode,
  { search, after, limit }: CustomerSearch,
): Promise<readonly string[] | null> {
  const next = (below: Expression) => sql`
    select ${ADDRESS} as address, id from payments where ${ended(scope)} and ${beginsWith(ADDRESS, search)} ${below}
    order by ${ADDRESS} desc, id desc limit 1`;
  const { rows } = await sql<{ readonly addresses: readonly string[]; readonly known: number }>`
    with recursive steps as (
        (${next(sql``)})
        union all
        select n.address, n.id from steps s cross join lateral (${next(sql`and ${ADDRESS} < s.address`)}) n),
      few as materialized (select * from steps limit ${FEW + 1}),
      found as (
        select address, id from (
          select distinct on (address) address, id from (select * from few union all ${running(scope, search)}) a
          order by address, id desc) n
        ${after === null ? sql`` : sql`where id < ${after}::uuid`} order by id desc limit ${limit})
    select array(select address from found order by id desc) as addresses,
      (select count(*)::integer from few) as known`.execute(db);
  const { addresses = [], known = 0 } = rows[0] ?? {};
  return known > FEW ? null : addresses;
}

/** All customers whose address begins so, with the sums of all their payments. */
export function customersBeginning(scope: ProjectMode, currency: Fiat, search: string): RawBuilder<Customer> {
  return sql<Customer>`
    with mine as materialized (
      select ${SUMMED} from payments where ${within(scope)} and customer_email is not null and ${beginsWith(ADDRESS, search)})
    ${sumsOf(currency, null)}`;
}

/** The columns of a payment that the sums of customers need. */
const SUMMED = sql`id, ${ADDRESS} as address, status, mode, currency, amount_minor, amount_usd_cents, created_at`;

/** The customers with some addresses, an array in lower case. */
function customerSums(scope: ProjectMode, currency: Fiat, addresses: Expression): RawBuilder<Customer> {
  return sql<Customer>`with mine as materialized (${paymentsOf(scope, addresses)}) ${sumsOf(currency, MAX_SUMMED)}`;
}

/** The payments with some addresses; the newest of each where they are very many. */
function paymentsOf(scope: ProjectMode, addresses: Expression): Expression {
  return sql`
    select m.* from unnest(${addresses}) a (address) cross join lateral (
      select ${SUMMED} from payments where ${ended(scope)} and ${ADDRESS} = a.address
      order by id desc limit ${MAX_SUMMED + 1}) m
    union all
    select ${SUMMED} from payments where ${within(scope)} and ${IS_RUNNING} and ${ADDRESS} = any (${addresses})`;
}

/** The sums of the payments `mine`, by their `address`; of more than `max` payments, their number is `max`. */
function sumsOf(currency: Fiat, max: number | null): RawBuilder<unknown> {
  const value = valueIn(currency, {
    currency: sql`p.currency`,
    minor: sql`p.amount_minor`,
    usdCents: sql`p.amount_usd_cents`,
  });
  const disposal = valueIn(currency, {
    currency: sql`r.currency`,
    minor: sql`r.disposal_minor`,
    usdCents: sql`r.disposal_usd_cents`,
  });
  const isCompleted = sql`p.status = 'completed'`;
  return sql`
    select p.address as email, least(count(*), ${max})::integer as payments, coalesce(count(*) > ${max}, false) as "isMore",
      ${count(isCompleted)} as completed,
      ${total(value, isCompleted)} as value, coalesce(max(back.value), 0)::numeric(78, 0) as refunded,
      ${count(sql`${isCompleted} and ${value} is null`)} + coalesce(max(back.unvalued), 0) as unvalued,
      max(p.created_at) as "lastAt", (array_agg(p.id order by p.id desc))[1] as "lastId"
    from mine p ${rateJoin(currency, sql`p.mode`, sql`p.created_at`)}
      left join (
        select m.address, ${total(disposal)} as value, ${count(sql`${disposal} is null`)} as unvalued
        from mine m join refunds r on r.payment_id = m.id
          ${rateJoin(currency, sql`r.mode`, sql`coalesce(r.completed_at, r.created_at)`)}
        where ${WAS_PAID} group by 1) back on back.address = p.address
    group by p.address`;
}

/** The payments in a project and mode that have not ended, by address. */
function running(scope: ProjectMode, search: string): Expression {
  return sql`select distinct on (1) ${ADDRESS} as address, id from payments
    where ${within(scope)} and ${IS_RUNNING} and customer_email is not null and ${beginsWith(ADDRESS, search)}
    order by 1, id desc`;
}

function within({ projectId, mode }: ProjectMode): Expression {
  return sql`project_id = ${projectId}::uuid and mode = ${mode}`;
}

/** The payments of the index `payments_ended_by_customer`. */
function ended(scope: ProjectMode): Expression {
  return sql`${within(scope)} and ${HAS_ENDED_WITH_ADDRESS}`;
}

const lowered = (text: string): Expression => sql`lower(${text}::text)`;

function beginsWith(address: Expression, search: string): Expression {
  if (search === '') return sql`true`;
  // The last character of Unicode ends the range.
  return sql`(${address} >= ${lowered(search)} and ${address} < ${lowered(search)} || chr(1114111))`;
}

/** A note about one of a customer's payments. */
export interface CustomerNote {
  readonly id: string;
  readonly payment: Pick<Payment, 'id' | 'api'>;
  readonly author: string;
  readonly body: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** The newest refunds and notes of a customer's payments, at most `limit` each. */
export async function aboutCustomer(
  db: Database,
  scope: ProjectMode,
  email: string,
  limit: number,
): Promise<{ readonly refunds: readonly Refund[]; readonly notes: readonly CustomerNote[] }> {
  const mine = sql`with mine as materialized (${paymentsOf(scope, sql`array[${lowered(email)}]`)})`;
  const [found, notes] = await Promise.all([
    sql<{ id: string }>`${mine} select r.id from mine m join refunds r on r.payment_id = m.id
      order by r.id desc limit ${limit}`.execute(db),
    sql<Omit<CustomerNote, 'payment'> & { readonly paymentId: string; readonly api: PaymentApi }>`
      ${mine} select n.id, p.id as "paymentId", p.surface as api, coalesce(a.name, n.author_name) as author, n.body,
        n.created_at as "createdAt"
      from mine m join payment_notes n on n.payment_id = m.id join payments p on p.id = m.id
        left join people a on a.id = n.author_id
      order by n.id desc limit ${limit}`.execute(db),
  ]);
  const ids = found.rows.map(({ id }) => id);
  const refunds = ids.length === 0 ? [] : await findRefunds(db, ids);
  return {
    refunds: refunds.toSorted((a, b) => (a.id < b.id ? 1 : -1)),
    notes: notes.rows.map(({ paymentId, api, ...note }) => ({ ...note, payment: { id: paymentId, api } })),
  };
}
