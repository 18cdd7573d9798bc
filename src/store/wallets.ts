import { sql } from 'kysely';
import type { Network } from '../domain/asset.ts';
import type { Database, Trx } from './database.ts';
import { notify } from './notifications.ts';

/** What a project's addresses on one network are derived from. No key that could spend is ever stored. */
export interface Wallet {
  readonly id: string;
  readonly projectId: string;
  readonly network: Network;
  readonly kind: 'xpub';
  readonly source: string;
  /** Its address at index 0: the same for every form that the source may be written in. */
  readonly firstAddress: string;
  readonly nextIndex: number;
  /** Confirmations that the merchant wants; null: the network's default. */
  readonly confirmations: number | null;
  readonly createdAt: number;
}

/** The project's wallets in use, one a network. */
export async function listWallets(executor: Database | Trx, projectId: string): Promise<readonly Wallet[]> {
  const rows = await executor
    .selectFrom('wallets as w')
    .innerJoin('address_indexes as i', (join) =>
      join.onRef('i.network', '=', 'w.network').onRef('i.first_address', '=', 'w.first_address'),
    )
    .selectAll('w')
    .select('i.next_index')
    .where('w.project_id', '=', projectId)
    .where('w.replaced_at', 'is', null)
    .orderBy('w.network')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    projectId: row.project_id,
    network: row.network,
    kind: row.kind,
    source: row.source,
    firstAddress: row.first_address,
    nextIndex: row.next_index,
    confirmations: row.confirmations,
    createdAt: row.created_at,
  }));
}

/** Sets the wallet of a project's network: the same source keeps its record, another one replaces it. */
export async function setWallet(trx: Trx, wallet: Omit<Wallet, 'nextIndex'>): Promise<void> {
  const [current] = (await listWallets(trx, wallet.projectId)).filter(({ network }) => network === wallet.network);
  await notify(trx, 'access');
  if (current?.firstAddress === wallet.firstAddress) {
    await trx
      .updateTable('wallets')
      .set({ confirmations: wallet.confirmations })
      .where('id', '=', current.id)
      .execute();
    return;
  }
  if (current !== undefined) {
    await trx
      .updateTable('wallets')
      .set({ replaced_at: new Date(wallet.createdAt) })
      .where('id', '=', current.id)
      .execute();
  }
  // A wallet that was used before, here or by another project, goes on where it stopped: no address is handed out twice.
  await trx
    .insertInto('address_indexes')
    .values({ network: wallet.network, first_address: wallet.firstAddress, next_index: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await trx
    .insertInto('wallets')
    .values({
      id: wallet.id,
      project_id: wallet.projectId,
      network: wallet.network,
      kind: wallet.kind,
      source: wallet.source,
      first_address: wallet.firstAddress,
      confirmations: wallet.confirmations,
      created_at: new Date(wallet.createdAt),
    })
    .execute();
}

/** Takes the next index of a project's wallet; null without a wallet. Every taker gets another one. */
export async function takeAddressIndex(
  executor: Database | Trx,
  projectId: string,
  network: Network,
): Promise<{ readonly walletId: string; readonly source: string; readonly index: number } | null> {
  const { rows } = await sql<{ id: string; source: string; index: number }>`
    update address_indexes i set next_index = i.next_index + 1
    from wallets w
    where w.project_id = ${projectId} and w.network = ${network} and w.replaced_at is null
      and i.network = w.network and i.first_address = w.first_address
    returning w.id, w.source, i.next_index - 1 as index`.execute(executor);
  const [row] = rows;
  return row === undefined ? null : { walletId: row.id, source: row.source, index: row.index };
}
