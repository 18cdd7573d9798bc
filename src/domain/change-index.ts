/** How many unused addresses in a row a wallet looks through before it takes the rest for unused (BIP 44). */
const GAP_LIMIT = 20;

/** What is known of a wallet's change chain, by the numbers of its addresses. */
export interface ChangeChain {
  /** Those that blocks paid to. */
  readonly seen: ReadonlySet<number>;
  /** Those that other open refunds use, and how many of them do. */
  readonly open: ReadonlyMap<number, number>;
}

/**
 * Where the change of a refund goes: the lowest number that was neither seen nor is used by another open refund, and at most
 * 19 above the highest one seen, where every wallet finds it. Once all of these are in use, refunds that are only shown
 * share one rather than go where the wallet does not look: the one that the fewest use, the lowest of those.
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

/** The highest number that change may go to: one below what a wallet looks at. */
export function lastIndex(seen: ReadonlySet<number>): number {
  return highestSeen(seen) + GAP_LIMIT - 1;
}

/** How many addresses of a change chain have to be watched: as many as a wallet looks at. */
export function watchedCount(seen: Iterable<number>): number {
  return highestSeen(seen) + 1 + GAP_LIMIT;
}

function highestSeen(seen: Iterable<number>): number {
  let highest = -1;
  for (const index of seen) highest = Math.max(highest, index);
  return highest;
}
