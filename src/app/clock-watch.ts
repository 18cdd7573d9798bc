import { NETWORK_FACTS, type Network } from '../domain/networks.ts';
import type { Family } from '../domain/network-facts.ts';
import { readDatabaseTime, readNewestBlocks, type NewestBlock } from '../store/chains/chain.ts';
import type { Database } from '../store/database.ts';
import type { ClockState, ServiceClock } from './service-clock.ts';

/** Differences up to this prove nothing: on one machine, database and process share a clock. */
const AGREES_MS = 30_000;

/**
 * How much older than its timestamp a block may truly be, or younger (negative). Bitcoin accepts timestamps two hours
 * ahead, and its newest block may be of any age. On EVM chains the newest block is seconds old when it is read.
 */
const BLOCK_AGE_MS: Readonly<Record<Family, { readonly least: number; readonly most: number }>> = {
  utxo: { least: -2 * 60 * 60_000, most: Infinity },
  evm: { least: -60_000, most: 60_000 },
};

/**
 * Compares the clock with the database and the newest blocks, and judges it anew. The database's time counts only where
 * it differs from the machine's clock: if both agree, they may be the same clock. Two rounds are at least `apartMs`
 * apart.
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
    // A block that came since the last round is the newest one; the first block seen may be of any age.
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
