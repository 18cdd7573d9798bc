import {
  ChainUnavailableError,
  type BlockHeader,
  type BlockId,
  type ChainBlock,
  type ChainSource,
  type ChainTransfer,
  type WaitingTransactions,
} from '../../src/rails/chain.ts';
import type { AwaitPoints } from './await-points.ts';
import type { SimBlock, SimChain, SimTransaction } from './chain.ts';
import type { Random } from './random.ts';

/** How the node behind a source is, until it changes. */
export type Mood =
  | { readonly kind: 'honest' }
  | { readonly kind: 'silent' }
  /** Its last blocks have not come yet. */
  | { readonly kind: 'lagging'; readonly blocks: number }
  /** It is on a branch that the others left, or never were on. */
  | { readonly kind: 'astray'; readonly tip: SimBlock }
  /** Every question is answered by one of several nodes that do not agree. */
  | { readonly kind: 'mixed'; readonly tips: readonly SimBlock[] }
  /** Its answers contradict each other. */
  | { readonly kind: 'lying' }
  /** It lists transfers twice. */
  | { readonly kind: 'stuttering' };

/** `syncing`: it is empty, and the node says that this means nothing. */
export type MempoolMood = 'whole' | 'loading' | 'empty' | 'partial' | 'syncing';

export interface SimNode {
  readonly chain: SimChain;
  mood(): Mood;
  change(mood: Mood, mempool: MempoolMood): void;
  /** The node as one life of the process asks it. `isFree` as for await points. */
  source(points: AwaitPoints, isFree: (this: void) => boolean): ChainSource;
}

/** A node of a chain. `bait` are transfers that a lie may contain, which would pay somebody. */
export function createSimNode(
  chain: SimChain,
  hasMempool: boolean,
  random: Random,
  bait: () => readonly ChainTransfer[],
): SimNode {
  let mood: Mood = { kind: 'honest' };
  let mempoolMood: MempoolMood = 'whole';
  const answers = createAnswers(
    chain,
    random,
    bait,
    () => mood,
    () => mempoolMood,
  );
  return {
    chain,
    mood: () => mood,
    change: (next, mempool) => {
      mood = next;
      mempoolMood = mempool;
    },
    source: (points, isFree) => {
      const lose = (): Error =>
        new ChainUnavailableError(chain.network, 'a question', [{ node: 'sim', reason: 'no answer' }]);
      const ask = <T>(answer: () => T): Promise<T> =>
        points.through(
          () => (mood.kind === 'silent' ? Promise.reject(lose()) : Promise.resolve().then(answer)),
          lose,
          isFree,
        );
      return {
        network: chain.network,
        head: () => ask(() => answers.head()),
        hashAt: (height) => ask(() => answers.header(height)?.hash ?? null),
        header: (height) => ask(() => answers.header(height)),
        block: (height) => ask(() => answers.block(height)),
        blocks: (height, count) => ask(() => answers.blocks(height, count)),
        dropReverted: (block, matched) => ask(() => answers.dropReverted(block, matched)),
        checkNodes: () => Promise.resolve([]),
        mempool: hasMempool
          ? {
              waiting: () => ask(() => answers.waiting()),
              transfersOf: (hashes) => ask(() => answers.transfersOf(hashes)),
              doubtsOf: async () => new Map(),
            }
          : null,
        close: () => Promise.resolve(),
      };
    },
  };
}

/** The answers of a node in its mood. */
function createAnswers(
  chain: SimChain,
  random: Random,
  bait: () => readonly ChainTransfer[],
  moodNow: () => Mood,
  mempoolNow: () => MempoolMood,
) {
  /** The end of the branch that this answer is about. */
  const view = (): SimBlock => {
    const mood = moodNow();
    const tip = chain.tip();
    if (mood.kind === 'astray') return mood.tip;
    if (mood.kind === 'lagging') return chain.path(tip)[Math.max(0, tip.height - mood.blocks)] ?? tip;
    return mood.kind === 'mixed' ? random.pick([tip, ...mood.tips]) : tip;
  };
  const shown = (block: SimBlock): ChainBlock => {
    const transfers = block.transfers.map(listed);
    return {
      height: block.height,
      hash: block.hash,
      parentHash: block.parent?.hash ?? block.hash.replaceAll(/[1-9a-f]/g, '0'),
      timeMs: block.timeMs,
      transfers: moodNow().kind === 'stuttering' ? transfers.flatMap((transfer) => [transfer, transfer]) : transfers,
    };
  };
  const waiting = (): readonly SimTransaction[] => {
    const all = chain.waiting(view());
    if (['empty', 'syncing'].includes(mempoolNow())) return [];
    return mempoolNow() === 'partial' ? all.filter(() => random.chance(60)) : all;
  };
  return {
    head: (): BlockId => {
      const { height, hash } = view();
      return { height, hash };
    },
    header: (height: number): BlockHeader | null => {
      const block = chain.path(view())[height];
      return block === undefined ? null : { height, hash: block.hash, timeMs: block.timeMs };
    },
    block: (height: number): ChainBlock | null => {
      const block = chain.path(view())[height];
      return block === undefined ? null : shown(block);
    },
    blocks: (height: number, count: number): readonly ChainBlock[] => {
      const honest = chain
        .path(view())
        .slice(height, height + count)
        .map(shown);
      return moodNow().kind === 'lying' ? lie(honest, random, bait()) : honest;
    },
    dropReverted: (block: ChainBlock, matched: readonly ChainTransfer[]): readonly ChainTransfer[] | null => {
      const own = chain.path(view())[block.height];
      if (own?.hash !== block.hash || (moodNow().kind === 'lying' && random.chance(50))) return null;
      const failed = new Set(own.transfers.flatMap((each) => (each.failed ? [each.transactionHash] : [])));
      return matched.filter((transfer) => !failed.has(transfer.transactionHash));
    },
    waiting: (): WaitingTransactions | null => {
      if (mempoolNow() === 'loading') return null;
      return { hashes: waiting().map(({ hash }) => hash), proof: mempoolNow() === 'syncing' ? 'nothing' : 'mempool' };
    },
    transfersOf: (hashes: readonly string[]): readonly ChainTransfer[] => {
      const wanted = new Set(hashes);
      return waiting()
        .filter(({ hash }) => wanted.has(hash))
        .flatMap(({ hash, outputs }) => outputs.map((output, index) => ({ ...output, transactionHash: hash, index })))
        .filter(({ amount }) => amount > 0n);
    },
  };
}

/** Blocks that no chain holds in this order: an unknown parent, a gap, or a made-up block with bait in it. */
function lie(blocks: readonly ChainBlock[], random: Random, bait: readonly ChainTransfer[]): readonly ChainBlock[] {
  const [first] = blocks;
  if (first === undefined) return blocks;
  const made = (after: ChainBlock, hash: string): ChainBlock => {
    const parentHash = hash.replaceAll(/[02468ace]/g, '7');
    return { ...after, height: after.height + 1, hash, parentHash, transfers: bait };
  };
  const last = blocks.at(-1) ?? first;
  return random.weighted<() => readonly ChainBlock[]>([
    [2, () => [...blocks, made(last, last.hash.replaceAll(/[13579bdf]/g, '8'))]],
    [
      1,
      () => [{ ...made(first, first.hash.replaceAll(/[13579bdf]/g, '8')), height: first.height }, ...blocks.slice(1)],
    ],
    [1, () => blocks.filter((_, index) => index !== 1)],
    [1, () => blocks.slice(1)],
    [1, () => []],
  ])();
}

/** A transfer as a block lists it: whether it moved money is not said there. */
function listed({ transactionHash, index, address, asset, amount }: ChainTransfer): ChainTransfer {
  return { transactionHash, index, address, asset, amount };
}
