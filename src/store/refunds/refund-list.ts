import { sql, type RawBuilder } from 'kysely';
import type { AssetCode } from '../../domain/asset-code.ts';
import { firstUuidOf } from '../../domain/id.ts';
import { NETWORKS, type Network } from '../../domain/networks.ts';
import type { RefundStage } from '../../domain/refund-stage.ts';
import type { Refund } from '../../domain/refund.ts';
import { withChosenAddress, findRefunds } from './refunds.ts';
import type { Database, Trx } from '../database.ts';
import { NO_FILTERS } from '../payments/payment-filter.ts';
import { idsByTerms } from '../payments/payment-search.ts';
import type { SearchTerm } from '../payments/search-words.ts';
import { payoutsOf, type RefundPayout } from './refund-payouts.ts';
import type { ProjectMode } from '../../domain/permission.ts';

/**
 * Filters of a list of refunds; null fields do not restrict. Times in epoch milliseconds, from inclusive, before
 * exclusive.
 */
export interface RefundSearch {
  readonly stage: RefundStage | null;
  readonly asset: AssetCode | null;
  readonly network: Network | null;
  readonly createdFrom: number | null;
  readonly createdBefore: number | null;
  /** Refunds that these terms find, by the refund or by its payment. */
  readonly terms: readonly SearchTerm[] | null;
}

/** A refund in a list. */
export interface ListedRefund {
  readonly refund: Refund;
  readonly stage: RefundStage;
  /** The merchant's order id, or the number of a transaction; null if there is neither. */
  readonly paymentName: string | null;
  /** The transfer that pays it; null if none was seen. */
  readonly payout: RefundPayout | null;
  /** How many confirmations a payout needs. */
  readonly needed: number;
  /** Whether the merchant gave its address. */
  readonly isAddressChosen: boolean;
}

/** The refunds of at most this many payments are searched: the newest. */
const MAX_PAYMENTS = 500;

/** The stage of a refund `r`. */
const STAGE = sql<RefundStage>`(case when r.status <> 'pending' then r.status
  when exists (select from refund_payouts o where o.refund_id = r.id) then 'seen'
  when exists (select from waiting_payouts o where o.refund_id = r.id and o.dropped_at is null and not o.was_mined) then 'seen'
  when exists (select from waiting_payouts o where o.refund_id = r.id and o.was_mined) then 'reorged'
  when r.watched_address is null then 'waiting_for_address' else 'to_sign' end)`;

/** One page of a project's refunds in a mode, newest first; `after` is the last one of the page before. */
export async function searchRefunds(
  executor: Database | Trx,
  scope: ProjectMode,
  search: RefundSearch,
  page: { readonly after: string | null; readonly limit: number },
): Promise<readonly ListedRefund[]> {
  const parts = [
    sql`r.project_id = ${scope.projectId}::uuid and r.mode = ${scope.mode}`,
    ...conditionsOf(search),
    ...(search.terms === null ? [] : [await foundBy(executor, scope, search.terms)]),
    ...(page.after === null ? [] : [sql`r.id < ${page.after}::uuid`]),
  ];
  const { rows } = await sql<{ id: string }>`
    select r.id from refunds r where ${sql.join(parts, sql` and `)} order by r.id desc limit ${page.limit}`.execute(
    executor,
  );
  return readListed(
    executor,
    rows.map(({ id }) => id),
  );
}

/** One refund of a project and mode; null if there is none. */
export async function findListedRefund(
  executor: Database | Trx,
  { projectId, mode }: ProjectMode,
  id: string,
): Promise<ListedRefund | null> {
  const [found] = await readListed(executor, [id]);
  return found?.refund.projectId === projectId && found.refund.mode === mode ? found : null;
}

function conditionsOf(search: RefundSearch): readonly RawBuilder<unknown>[] {
  const { stage, asset, network, createdFrom, createdBefore } = search;
  return [
    ...(stage === null ? [] : [withStage(stage)]),
    ...(asset === null ? [] : [sql`r.asset = ${asset}`]),
    ...(network === null ? [] : [sql`r.network = ${network}`]),
    ...(createdFrom === null ? [] : [sql`r.id >= ${firstUuidOf(createdFrom)}::uuid`]),
    ...(createdBefore === null ? [] : [sql`r.id < ${firstUuidOf(createdBefore)}::uuid`]),
  ];
}

/** The condition names the status too, because the index begins with it. */
function withStage(stage: RefundStage): RawBuilder<unknown> {
  const isEnd = stage === 'completed' || stage === 'failed';
  return isEnd ? sql`r.status = ${stage}` : sql`r.status = 'pending' and ${STAGE} = ${stage}`;
}

/** A single term that is a key of a refund finds none of the other refunds of its payment. */
async function foundBy(
  executor: Database | Trx,
  scope: ProjectMode,
  terms: readonly SearchTerm[],
): Promise<RawBuilder<unknown>> {
  const keys = terms.length === 1 ? terms.flatMap((term) => term.keys) : [];
  const own = keys.flatMap((key): readonly RawBuilder<unknown>[] => {
    switch (key.kind) {
      case 'refund':
        return [sql`select id from refunds where id = ${key.id}::uuid`];
      case 'address':
        return [
          sql`select id from refunds where watched_address is not null and network = any (${[...NETWORKS]}::text[])
          and watched_address = any (${key.forms}::text[])`,
        ];
      case 'transaction_hash':
        return [
          sql`select id from refunds where transaction_hash is not null and transaction_hash = any (${key.forms}::text[])`,
          ...['refund_payouts', 'waiting_payouts'].map(
            (table) => sql`select refund_id as id from ${sql.table(table)}
              where network = any (${[...NETWORKS]}::text[]) and transaction_hash = any (${key.forms}::text[])`,
          ),
        ];
      default:
        return [];
    }
  });
  const named = await inScope(executor, scope, own);
  if (named.length > 0) return anyOf(sql`r.id`, named);
  return anyOf(
    sql`r.payment_id`,
    await idsByTerms(executor, scope, { ...NO_FILTERS, terms }, { after: null, limit: MAX_PAYMENTS }),
  );
}

/** The refunds of a scope among those that some statements select. */
async function inScope(
  executor: Database | Trx,
  { projectId, mode }: ProjectMode,
  selects: readonly RawBuilder<unknown>[],
): Promise<readonly string[]> {
  if (selects.length === 0) return [];
  const { rows } = await sql<{ id: string }>`
    select id from refunds where id = any (array(${sql.join(selects, sql` union `)}))
      and project_id = ${projectId}::uuid and mode = ${mode}`.execute(executor);
  return rows.map(({ id }) => id);
}

function anyOf(column: RawBuilder<unknown>, ids: readonly string[]): RawBuilder<unknown> {
  return sql`${column} = any (${ids}::uuid[])`;
}

async function readListed(executor: Database | Trx, ids: readonly string[]): Promise<readonly ListedRefund[]> {
  if (ids.length === 0) return [];
  // One after the other, because an export reads on a single connection.
  const refunds = await findRefunds(executor, ids);
  const payouts = await payoutsOf(executor, ids);
  const chosen = await withChosenAddress(executor, refunds);
  const { rows } = await sql<{ id: string; stage: RefundStage; name: string | null; needed: number }>`
      select r.id, ${STAGE} as stage, coalesce(p.merchant_order_id, p.transaction_number) as name,
        coalesce((select max(a.confirmations) from payment_addresses a where a.payment_id = r.payment_id), 1) as needed
      from refunds r left join payments p on p.id = r.payment_id where r.id = any (${ids}::uuid[])`.execute(executor);
  const facts = new Map(rows.map((row) => [row.id, row]));
  const byId = new Map(refunds.map((refund) => [refund.id, refund]));
  return ids.flatMap((id) => {
    const [refund, fact] = [byId.get(id), facts.get(id)];
    if (refund === undefined || fact === undefined) return [];
    const { stage, name, needed } = fact;
    return [
      { refund, stage, paymentName: name, payout: payouts.get(id) ?? null, needed, isAddressChosen: chosen.has(id) },
    ];
  });
}
