import { isNetwork, type Network } from '../../domain/networks.ts';
import type { Cursor } from './chain.ts';
import type { Database } from '../database.ts';
import { fields, toRow, type Stored } from '../rows.ts';

/** Saves why a chain cannot be followed; null: it can. Without a cursor there is nothing to follow yet. */
export async function saveProblem(db: Database, network: Network, problem: string | null): Promise<void> {
  await db.updateTable('chain_cursors').set({ problem }).where('network', '=', network).execute();
}

/** A node's latest report. */
export type KnownNode = Stored<'chain_nodes'>;

/** Saves the reports of a network's nodes in place of earlier ones. */
export async function saveNodes(
  db: Database,
  network: Network,
  nodes: readonly Pick<KnownNode, 'node' | 'height' | 'problem'>[],
  now: number,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx.deleteFrom('chain_nodes').where('network', '=', network).execute();
    if (nodes.length === 0) return;
    const rows = nodes.map((node) => toRow('chain_nodes', { ...node, network, checkedAt: now }));
    // Two URLs may lead to one host; the later one stands for both.
    await trx
      .insertInto('chain_nodes')
      .values([...new Map(rows.map((row) => [row.node, row])).values()])
      .execute();
  });
}

/** How far each network was read, and its nodes' latest reports; without networks that only a newer process knows. */
export async function networkStates(db: Database): Promise<{
  readonly cursors: ReadonlyMap<Network, Cursor & { readonly problem: string | null }>;
  readonly nodes: readonly KnownNode[];
}> {
  const cursors = await db
    .selectFrom('chain_cursors')
    .select(['network', 'height', 'hash', 'block_at as blockAt', 'problem'])
    .execute();
  const nodes = await db
    .selectFrom('chain_nodes')
    .select(fields('chain_nodes'))
    .orderBy('network')
    .orderBy('node')
    .execute();
  return {
    cursors: new Map(cursors.map(({ network, ...cursor }) => [network, cursor])),
    nodes: nodes.filter(({ network }) => isNetwork(network)),
  };
}
