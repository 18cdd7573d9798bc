import { NETWORK_FACTS, type Network } from '../domain/networks.ts';
import type { Family } from '../domain/network-facts.ts';
import { readDatabaseTime, readNewestBlocks, type NewestBlock } from '../store/chains/chain.ts';
import type { Database } from '../store/database.ts';
import type { ClockState, ServiceClock } from './service-clock.ts';

/** Differences that prove nothing: of a database on the same machine the clock is the same. */
const AGREES_MS = 30_000;

/**
 * How much later than its date a block may truly be made, below zero earlier: Bitcoin takes blocks that are dated two
 * hours ahead, and says nothing of how old they are. On EVM chains the newest block is seconds old when it is read.
 */
const BLOCK_AGE_MS: Readonly<Record<Family, { readonly least: number; readonly most: number }>> = {
  utxo: { least: -2 * 60 * 60_000, most: Infinity },
  evm: { least: -60_000, most: 60_000 },
};

/**
 * Compares the clock with the database and the newest blocks, and judges it anew. The database counts where it differs
 * from the machine's clock alone: one that agrees may run on the same clock. Two looks are to be `apartMs` apart.
 */
export function createClockWatch(db: Database, clock: ServiceClock, apartMs: number): () => Promise<ClockState> {
  const heights = new Map<Network, number>();

  const noteDatabase = async (): Promise<void> => {
    const askedAt = performance.now();
    const time = await readDatabaseTime(db);
    const tookMs = performance.now() - askedAt;
    const aheadMs = clock.machine() - time;
    if (aheadMs >= -AGREES_MS && aheadMs <= tookMs + AGREES_MS) clock.forget('the database');
    else clock.note({ source: 'the database', earliest: time, latest: time + tookMs, weight: 2 });
  };

  const noteBlock = ({ network, height, blockAt, isHead }: NewestBlock): void => {
    const { family } = NETWORK_FACTS[network];
    const { least, most } = BLOCK_AGE_MS[family];
    const before = heights.get(network);
    if (before !== undefined && before >= height) return;
    // A block that came since the last look is the newest one; the first one that is seen may be of any age.
    const latest = isHead && before !== undefined ? blockAt + most + apartMs : Infinity;
    if (isHead || before === undefined) heights.set(network, height);
    clock.note({ source: `the newest block of ${network}`, earliest: blockAt + least, latest, weight: 1 });
  };

  return async () => {
    try {
      await noteDatabase();
      for (const block of await readNewestBlocks(db)) noteBlock(block);
    } finally {
      clock.look();
    }
    return clock.state();
  };
}
