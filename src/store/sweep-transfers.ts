import { sql } from 'kysely';
import type { AssetCode } from '../domain/asset.ts';
import type { Database, Trx } from './database.ts';
import { COIN, type SweepTransferState } from './schema/sweeps.ts';
import { date, digits, type Sweep } from './sweeps.ts';
import type { NewRow } from './tables.ts';

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

/** Adds what a sweep takes; more units of what it takes already are added to those. */
export async function insertSweepTransfers(
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
          units: sql<bigint>`sweep_transfers.units + excluded.units`,
          state: eb.ref('excluded.state'),
          usd_cents: sql<bigint | null>`sweep_transfers.usd_cents + excluded.usd_cents`,
        })),
      )
      .execute();
  }
}

/** Forgets what a sweep was to take, because it is known now that its transaction is another one. */
export async function deleteSweepTransfers(trx: Trx, { id }: Pick<Sweep, 'id'>): Promise<void> {
  await trx.deleteFrom('sweep_transfers').where('sweep_id', '=', id).execute();
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
    .selectAll()
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
