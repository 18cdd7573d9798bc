import { sql } from 'kysely';
import type { Network } from '../../domain/networks.ts';
import { NUMBERED_APIS } from '../../domain/payment-kind.ts';
import type { Mode } from '../../domain/permission.ts';
import type { WalletKind } from '../schema/wallets.ts';
import { busiestDay } from './unissued.ts';
import { timestamp, type Database, type Trx } from '../database.ts';

/** A wallet in use, and how many addresses it handed out on the busiest of the last thirty days. */
export interface WalletPace {
  readonly network: Network;
  readonly firstAddress: string;
  readonly kind: WalletKind;
  readonly nextIndex: number;
  readonly projectIds: readonly string[];
  readonly busiestDay: number;
}

/** Locks the wallets in use until the transaction ends; their pace is measured before `until`. */
export async function lockPaces(trx: Database | Trx, until: number): Promise<readonly WalletPace[]> {
  const { rows } = await sql<Omit<WalletPace, 'busiestDay'>>`
    select i.network, i.first_address as "firstAddress", i.next_index as "nextIndex",
      (select w.kind from wallets w
        where w.network = i.network and w.first_address = i.first_address and w.replaced_at is null limit 1) as kind,
      array(select w.project_id::text from wallets w
        where w.network = i.network and w.first_address = i.first_address and w.replaced_at is null order by 1) as "projectIds"
    from address_indexes i
    where exists (
      select 1 from wallets w
      where w.network = i.network and w.first_address = i.first_address and w.replaced_at is null)
    order by i.network, i.first_address for update of i`.execute(trx);
  const paces: WalletPace[] = [];
  for (const wallet of rows) {
    paces.push({ ...wallet, busiestDay: await busiestDay(trx, wallet.network, wallet.firstAddress, until) });
  }
  return paces;
}

/** A counter of transaction numbers, and how many transactions were created on the busiest of the last thirty days. */
export interface CounterPace {
  readonly projectId: string;
  readonly mode: Mode;
  readonly year: number;
  /** 0 if no number was used. */
  readonly last: number;
  readonly busiestDay: number;
}

/** The counters of these years, of all projects and both modes, including those that were never used. */
export async function counterPaces(
  trx: Database | Trx,
  years: readonly number[],
  until: number,
): Promise<readonly CounterPace[]> {
  const { rows } = await sql<CounterPace>`
    select p.id as "projectId", m.mode, y.year, coalesce(c.last, 0) as last,
      (select coalesce(max(day.count), 0)::int from (
        select sum(d.payments) as count from payment_day_counts d
        where d.project_id = p.id and d.mode = m.mode and d.surface = any (${NUMBERED_APIS}::text[])
          and d.day > (${timestamp(until)} - interval '30 days')::date
        group by d.day) day) as "busiestDay"
    from projects p cross join (values ('test'), ('live')) as m (mode) cross join unnest(${years}::int[]) as y (year)
    left join transaction_counters c on c.project_id = p.id and c.mode = m.mode and c.year = y.year
    order by p.id, m.mode, y.year`.execute(trx);
  return rows;
}

/** Makes a counter continue after `last` or higher. */
export async function raiseCounter(
  trx: Database | Trx,
  { projectId, mode, year }: Pick<CounterPace, 'projectId' | 'mode' | 'year'>,
  last: number,
): Promise<void> {
  await sql`
    insert into transaction_counters (project_id, mode, year, last) values (${projectId}, ${mode}, ${year}, ${last})
    on conflict (project_id, mode, year) do update set last = greatest(transaction_counters.last, excluded.last)`.execute(
    trx,
  );
}

/** How many deliveries are waiting. */
export async function waitingDeliveries(db: Database | Trx): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from deliveries where next_attempt_at is not null`.execute(db);
  return rows[0]?.count ?? 0;
}
