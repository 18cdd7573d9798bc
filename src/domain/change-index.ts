/** How many unused addresses in a row a wallet scans before it gives up (BIP 44). */
const GAP_LIMIT = 20;

/** The known state of a wallet's change chain. Addresses are identified by their index. */
export interface ChangeChain {
  /** Indexes that were paid in a block. */
  readonly seen: ReadonlySet<number>;
  /** Indexes used by other open refunds, and how many refunds use each. */
  readonly open: ReadonlyMap<number, number>;
}

/**
 * The index for the change of a refund: the lowest that was neither seen nor is used by another open refund, and at
 * most 19 above the highest one seen, so that every wallet finds it. If all of these are in use, refunds share one
 * rather than use an index that wallets do not scan: the one with the fewest refunds, and the lowest of those.
 */
export function chooseChangeIndex({ seen, open }: ChangeChain): number {
  const last = lastIndex(seen);
  let best: { readonly index: number; readonly uses: number } | null = null;
  for (let index = 0; index <= last; index += 1) {
    if (seen.has(index)) continue;
    const uses = open.get(index) ?? 0;
    if (best === null || uses < best.uses) best = { index, uses };
  }
  if (best === null) throw new Error('no change address was found within the gap limit');
  return best.index;
}

/** The highest index that change may use: one below the last that a wallet scans. */
export function lastIndex(seen: ReadonlySet<number>): number {
  return highestSeen(seen) + GAP_LIMIT - 1;
}

/** How many addresses of a change chain must be watched: as many as a wallet scans. */
export function watchedCount(seen: Iterable<number>): number {
  return highestSeen(seen) + 1 + GAP_LIMIT;
}

function highestSeen(seen: Iterable<number>): number {
  let highest = -1;
  for (const index of seen) highest = Math.max(highest, index);
  return highest;
}
