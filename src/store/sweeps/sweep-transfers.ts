import { CompiledQuery, sql } from 'kysely';
import { timestamp, type Database, type Trx } from '../database.ts';
import { deleteRows, findRows, oneOf, updateRows, type Stored } from '../rows.ts';
import { COIN, SWEEP_TRANSFERS } from '../schema/sweeps.ts';
import type { Sweep } from './sweeps.ts';

type StoredTransfer = Stored<'sweep_transfers'>;

/** The amount of one token that a sweep takes from one deposit. */
export interface SweepTransfer extends Pick<
  StoredTransfer,
  'sweepId' | 'address' | 'paymentId' | 'index' | 'asset' | 'state' | 'units' | 'usdCents'
> {
  /** The token's contract in lower case; null for the chain's own coin. */
  readonly token: string | null;
}

export type NewTransfer = Omit<SweepTransfer, 'sweepId' | 'usdCents'> & { readonly usdCents?: bigint | null };

const SAVE = `
  ${SWEEP_TRANSFERS.insert('$1')}
  on conflict (sweep_id, deposit_address, token) do update set ${SWEEP_TRANSFERS.setExcluded}`;

/**
 * Sets the transfers of a sweep: earlier records of the same token on the same deposit are replaced, never added to.
 */
export async function setSweepTransfers(
  trx: Trx,
  { id: sweepId, projectId, network, transactionHash, height, minedAt }: Sweep,
  transfers: readonly NewTransfer[],
): Promise<void> {
  const ofSweep = { sweepId, projectId, network, transactionHash, height, minedAt };
  const records = transfers.map(({ token, usdCents = null, ...one }) => ({
    transfer: { ...one, ...ofSweep, usdCents, token: token ?? COIN },
  }));
  await trx.executeQuery(CompiledQuery.raw(SAVE, [SWEEP_TRANSFERS.records(records)]));
}

/** Deletes the planned transfers of a sweep whose transaction turned out to be another one. */
export async function deleteSweepTransfers(trx: Trx, { id }: Pick<Sweep, 'id'>): Promise<void> {
  await deleteRows(trx, 'sweep_transfers', { sweepId: id });
}

/** Replaces a recorded sweep by another one, whose planned transfers are deleted. */
export async function moveSweepTransfers(trx: Trx, from: Pick<Sweep, 'id'>, to: Pick<Sweep, 'id'>): Promise<void> {
  await deleteSweepTransfers(trx, to);
  await updateRows(trx, 'sweep_transfers', { sweepId: from.id }, { sweepId: to.id });
}

/**
 * Deletes transfers of a deposit that were recorded without a transaction, because the transaction is known now: it
 * took them in that block, or took as much since the sweep was begun when no node could name the block.
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

/** Saves the chain's facts about one token that a sweep takes. */
export async function updateSweepTransfer(
  trx: Trx,
  { sweepId, address, token }: Pick<SweepTransfer, 'sweepId' | 'address' | 'token'>,
  change: Pick<SweepTransfer, 'state' | 'units' | 'usdCents'> & Pick<Sweep, 'transactionHash' | 'height' | 'minedAt'>,
): Promise<void> {
  await updateRows(trx, 'sweep_transfers', { sweepId, address, token: token ?? COIN }, change);
}

/** The transfers of these sweeps by sweep id, in the order of the deposits' indexes. */
export async function transfersOfSweeps(
  db: Database | Trx,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly SweepTransfer[]>> {
  if (ids.length === 0) return new Map();
  const rows = await findRows(db, 'sweep_transfers', { sweepId: oneOf(ids) }, { order: ['index', 'address', 'token'] });
  const transfers = rows.map((row): SweepTransfer => ({ ...row, token: row.token === COIN ? null : row.token }));
  return Map.groupBy(transfers, ({ sweepId }) => sweepId);
}

/** The transfers of open sweeps of deposits, as `address token`, to tell which part of a plan is under way. */
export async function transfersUnderWay(trx: Database | Trx, projectId: string): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ network: string; address: string; token: string }>`
    select s.network, t.deposit_address as address, t.token
    from sweeps s join sweep_transfers t on t.sweep_id = s.id
    where s.project_id = ${projectId} and s.state in ('asked', 'sent', 'seen')`.execute(trx);
  return new Set(rows.map(({ network, address, token }) => `${network} ${address} ${token}`));
}
