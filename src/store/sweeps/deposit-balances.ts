import { CompiledQuery, sql } from 'kysely';
import type { AssetCode } from '../../domain/asset-code.ts';
import { nativeAsset, type Network } from '../../domain/networks.ts';
import { timestamp, type Database, type Trx } from '../database.ts';
import { above, atMost, deleteRows, findRows, insertRows, type Stored } from '../rows.ts';
import { COIN, DEPOSIT_BALANCES } from '../schema/sweeps.ts';

/** The balance of a token on a deposit at the last check. */
export interface DepositBalance extends Pick<
  Stored<'deposit_balances'>,
  'address' | 'index' | 'treasury' | 'paymentId' | 'asset' | 'units' | 'usdCents' | 'pricedBy'
> {
  /** The token's contract in lower case; null for the chain's own coin. */
  readonly token: string | null;
}

/** The last check of a project's deposits on a network. */
export type DepositCheck = Omit<Stored<'deposit_checks'>, 'projectId'>;

/** A successful check of all deposits of a project on a network. */
export interface CheckedDeposits {
  readonly projectId: string;
  readonly network: Network;
  readonly at: number;
  readonly height: number;
  readonly gasPrice: bigint;
  readonly factories: readonly string[];
  /** All balances that are not zero. */
  readonly balances: readonly DepositBalance[];
}

const SAVE = `${DEPOSIT_BALANCES.insert('$1')} on conflict (network, address, token) do nothing`;

/** Replaces the saved balances of a project's deposits on a network, except those of a later block. */
export async function saveDepositCheck(trx: Trx, checked: CheckedDeposits): Promise<void> {
  const { projectId, network, at, height, gasPrice, factories, balances } = checked;
  const ofCheck = { projectId, network, height, checkedAt: at };
  await deleteRows(trx, 'deposit_balances', { projectId, network, height: atMost(height) });
  const records = balances.map(({ token, ...one }) => ({ balance: { ...one, ...ofCheck, token: token ?? COIN } }));
  await trx.executeQuery(CompiledQuery.raw(SAVE, [DEPOSIT_BALANCES.records(records)]));
  const check = { ...ofCheck, gasPrice, factories, startedAt: at, problem: null };
  await insertRows(trx, 'deposit_checks', [check], { conflict: { by: ['projectId', 'network'], set: check } });
}

/** Records why a check failed; earlier results stay. */
export async function saveDepositProblem(
  db: Database,
  { projectId, network, at, problem }: { projectId: string; network: Network; at: number; problem: string },
): Promise<void> {
  const failed = { startedAt: at, problem };
  const nothing = { checkedAt: null, height: null, gasPrice: null, factories: [] };
  const row = { projectId, network, ...nothing, ...failed };
  await insertRows(db, 'deposit_checks', [row], { conflict: { by: ['projectId', 'network'], set: failed } });
}

/** Records that a factory of deposits is deployed. */
export async function addFactory(
  trx: Trx,
  { projectId, network }: { readonly projectId: string; readonly network: Network },
  address: string,
): Promise<void> {
  await sql`
    update deposit_checks set factories = array_append(array_remove(factories, ${address}), ${address})
    where project_id = ${projectId} and network = ${network}`.execute(trx);
}

export async function depositChecks(db: Database | Trx, projectId: string): Promise<readonly DepositCheck[]> {
  return findRows(db, 'deposit_checks', { projectId }, { without: ['project_id'] });
}

/** The last known balances of a project's deposits, by network, treasury and index. */
export async function depositBalances(
  db: Database | Trx,
  projectId: string,
  network: Network | null = null,
): Promise<readonly (DepositBalance & { readonly network: Network })[]> {
  const wanted = { projectId, units: above(0n), ...(network === null ? {} : { network }) };
  const order = ['network', 'treasury', 'index', 'address', 'token'] as const;
  const rows = await findRows(db, 'deposit_balances', wanted, { order });
  return rows.map((row) => ({ ...row, token: row.token === COIN ? null : row.token }));
}

/** Saves a deposit's balance after the block of a sweep, unless that of a later block is known. */
export async function setDepositBalance(
  trx: Trx,
  change: {
    readonly network: Network;
    readonly address: string;
    readonly token: string | null;
    readonly units: bigint;
    readonly height: number;
    readonly at: number;
  },
): Promise<void> {
  await sql`
    update deposit_balances
    set units = ${change.units}, block_height = ${change.height}, checked_at = ${timestamp(change.at)},
      usd_cents = case when units = 0 then null else (usd_cents * ${change.units}::numeric / units)::bigint end
    where network = ${change.network} and address = ${change.address} and token = ${change.token ?? COIN}
      and block_height <= ${change.height}`.execute(trx);
}

/** Amounts that arrived at a deposit or left it by recorded sweeps, with their blocks, in the smallest unit. */
export interface DepositFlow {
  readonly address: string;
  readonly asset: AssetCode;
  /** Ordered by height: confirmed arrivals and coins that lay there before are positive, sweeps negative. */
  readonly steps: readonly { readonly height: number; readonly units: bigint }[];
}

/** The flows of a project's deposits on a network, for comparison with the balances. */
export async function depositFlows(
  db: Database | Trx,
  projectId: string,
  network: Network,
): Promise<readonly DepositFlow[]> {
  const { rows } = await sql<{ address: string; asset: AssetCode; height: number; units: bigint }>`
    select a.address, t.asset, t.block_height as height, t.amount_units as units
    from wallets w
    join payment_addresses a on a.wallet_id = w.id and a.network = w.network
    join transfers t on t.payment_id = a.payment_id and t.network = a.network and t.address = a.address
      and t.state = 'confirmed' and t.block_height is not null
    where w.project_id = ${projectId} and w.network = ${network} and w.kind = 'treasury'
    union all
    select a.address, ${nativeAsset(network)}::text, o.block_height, -o.units
    from wallets w
    join payment_addresses a on a.wallet_id = w.id and a.network = w.network
    join coin_outflows o on o.network = a.network and o.address = a.address and o.state = 'before'
    where w.project_id = ${projectId} and w.network = ${network} and w.kind = 'treasury'
    union all
    select s.deposit_address, s.asset, coalesce(s.block_height, 0), -s.units
    from sweep_transfers s
    where s.project_id = ${projectId} and s.network = ${network} and s.state = 'mined' and s.asset is not null
    order by 1, 2, 3, 4`.execute(db);
  return [...Map.groupBy(rows, ({ address, asset }) => `${address} ${asset}`).values()].flatMap((steps) =>
    steps.slice(0, 1).map(({ address, asset }) => ({ address, asset, steps })),
  );
}

/** The recorded amount that arrived at a deposit in one block. */
export async function arrivalsInBlock(
  db: Database,
  at: { readonly network: Network; readonly address: string; readonly asset: AssetCode; readonly height: number },
): Promise<bigint> {
  const { rows } = await sql<{ units: bigint }>`
    select coalesce(sum(amount_units), 0)::numeric(78, 0) as units from transfers
    where network = ${at.network} and block_height = ${at.height} and address = ${at.address} and asset = ${at.asset}
      and state in ('mined', 'confirmed')`.execute(db);
  return rows[0]?.units ?? 0n;
}
