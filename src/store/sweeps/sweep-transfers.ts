import { sql } from 'kysely';
import type { AssetCode } from '../../domain/asset-code.ts';
import { timestamp, type Database, type Trx } from '../database.ts';
import { COIN, type SweepTransferState } from '../schema/sweeps.ts';
import { date, digits, type Sweep } from './sweeps.ts';
import { columnsOf, type NewRow } from '../tables.ts';

/** What a sweep takes from one deposit of one token. */
export interface SweepTransfer {
  readonly sweepId: string;
  readonly address: string;
  /** The token's contract in lower case; null for the chain's own coin. */
  readonly token: string | null;
  readonly paymentId: string;
  readonly index: number;
  readonly asset: AssetCode | null;
  readonly state: SweepTransferState;
  readonly units: bigint;
  readonly usdCents: bigint | null;
}

export type NewTransfer = Omit<SweepTransfer, 'sweepId' | 'usdCents'> & { readonly usdCents?: bigint | null };

const ROWS_PER_INSERT = 1_000;

/** Sets what a sweep takes: what was known of the same token on the same deposit is replaced, never added to. */
export async function setSweepTransfers(
  trx: Trx,
  { id, projectId, network, transactionHash, height, minedAt }: Sweep,
  transfers: readonly NewTransfer[],
): Promise<void> {
  for (let start = 0; start < transfers.length; start += ROWS_PER_INSERT) {
    await trx
      .insertInto('sweep_transfers')
      .values(
        transfers.slice(start, start + ROWS_PER_INSERT).map((one): NewRow<'sweep_transfers'> => ({
          sweep_id: id,
          project_id: projectId,
          network,
          deposit_address: one.address,
          token: one.token ?? COIN,
          payment_id: one.paymentId,
          address_index: one.index,
          asset: one.asset,
          state: one.state,
          units: String(one.units),
          transaction_hash: transactionHash,
          block_height: height,
          mined_at: date(minedAt),
          usd_cents: digits(one.usdCents ?? null),
        })),
      )
      .onConflict((conflict) =>
        conflict.columns(['sweep_id', 'deposit_address', 'token']).doUpdateSet((eb) => ({
          state: eb.ref('excluded.state'),
          units: eb.ref('excluded.units'),
          transaction_hash: eb.ref('excluded.transaction_hash'),
          block_height: eb.ref('excluded.block_height'),
          mined_at: eb.ref('excluded.mined_at'),
          usd_cents: eb.ref('excluded.usd_cents'),
        })),
      )
      .execute();
  }
}

/** Forgets what a sweep was to take, because it is known now that its transaction is another one. */
export async function deleteSweepTransfers(trx: Trx, { id }: Pick<Sweep, 'id'>): Promise<void> {
  await trx.deleteFrom('sweep_transfers').where('sweep_id', '=', id).execute();
}

/** A sweep that is recorded already goes on as another one; what that was to take is forgotten. */
export async function moveSweepTransfers(trx: Trx, from: Pick<Sweep, 'id'>, to: Pick<Sweep, 'id'>): Promise<void> {
  await deleteSweepTransfers(trx, to);
  await trx.updateTable('sweep_transfers').set({ sweep_id: to.id }).where('sweep_id', '=', from.id).execute();
}

/**
 * Forgets what was recorded of a deposit without a transaction, because it is known now which one took it in that
 * block, or took as much when no node knew the block, since the sweep was begun.
 */
export async function deleteUnlocated(
  trx: Trx,
  { projectId, network, createdAt }: Pick<Sweep, 'projectId' | 'network' | 'createdAt'>,
  taken: { readonly address: string; readonly token: string | null; readonly units: bigint; readonly height: number },
): Promise<void> {
  await sql`
    with gone as (
      delete from sweep_transfers t using sweeps s
      where s.id = t.sweep_id and s.project_id = ${projectId} and s.network = ${network}
        and s.source = 'chain' and s.transaction_hash is null
        and t.deposit_address = ${taken.address} and t.token = ${taken.token ?? COIN}
        and (t.block_height = ${taken.height} or (t.block_height is null and t.units = ${taken.units}
            and s.created_at >= ${timestamp(createdAt)}))
      returning t.sweep_id, t.deposit_address, t.token)
    delete from sweeps s using gone where s.id = gone.sweep_id and not exists (
      select from sweep_transfers t where t.sweep_id = s.id
        and (t.sweep_id, t.deposit_address, t.token) not in (select sweep_id, deposit_address, token from gone))`.execute(
    trx,
  );
}

/** What the chain says of one thing that a sweep takes. */
export async function updateSweepTransfer(
  trx: Trx,
  { sweepId, address, token }: Pick<SweepTransfer, 'sweepId' | 'address' | 'token'>,
  change: Pick<SweepTransfer, 'state' | 'units' | 'usdCents'> & Pick<Sweep, 'transactionHash' | 'height' | 'minedAt'>,
): Promise<void> {
  await trx
    .updateTable('sweep_transfers')
    .set({
      state: change.state,
      units: String(change.units),
      usd_cents: digits(change.usdCents),
      transaction_hash: change.transactionHash,
      block_height: change.height,
      mined_at: date(change.minedAt),
    })
    .where('sweep_id', '=', sweepId)
    .where('deposit_address', '=', address)
    .where('token', '=', token ?? COIN)
    .execute();
}

/** What these sweeps take, by the deposit's index. */
export async function transfersOfSweeps(
  db: Database | Trx,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly SweepTransfer[]>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('sweep_transfers')
    .select(columnsOf('sweep_transfers'))
    .where('sweep_id', 'in', [...ids])
    .orderBy('address_index')
    .orderBy('deposit_address')
    .orderBy('token')
    .execute();
  const transfers = rows.map((row): SweepTransfer => ({
    sweepId: row.sweep_id,
    address: row.deposit_address,
    token: row.token === COIN ? null : row.token,
    paymentId: row.payment_id,
    index: row.address_index,
    asset: row.asset,
    state: row.state,
    units: row.units,
    usdCents: row.usd_cents,
  }));
  return Map.groupBy(transfers, ({ sweepId }) => sweepId);
}

/** Sweeps of deposits that are open, for telling what of a plan is under way: `address token`. */
export async function transfersUnderWay(trx: Database | Trx, projectId: string): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ network: string; address: string; token: string }>`
    select s.network, t.deposit_address as address, t.token
    from sweeps s join sweep_transfers t on t.sweep_id = s.id
    where s.project_id = ${projectId} and s.state in ('asked', 'sent', 'seen')`.execute(trx);
  return new Set(rows.map(({ network, address, token }) => `${network} ${address} ${token}`));
}
