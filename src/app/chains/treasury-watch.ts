import type { BlockId, ChainBlock, ChainSource, NativeBalances } from '../../rails/chain.ts';
import { balancesOf } from '../../rails/native-balances.ts';
import { treasuriesOn, type TakenFrom } from '../../store/chains/coin-outflows.ts';
import type { App } from '../context.ts';
import type { Accounts } from './compare-balances.ts';

/** Most nodes keep the balances of this many recent blocks. */
export const BLOCKS_WITH_BALANCES = 128;

type Balances = ReadonlyMap<string, bigint>;

/**
 * Finds deposits that a call emptied without naming them: anybody may have a contract flush a deposit, but it pays only
 * its treasury. A block in which a treasury's balance changed by more than its plain transfers is traced; if no node
 * traces, the emptied deposits stay unnoticed.
 */
export function createTreasuryWatch(
  app: App,
  { network }: ChainSource,
  native: NativeBalances,
): (blocks: readonly ChainBlock[], accounts: Accounts) => Promise<readonly TakenFrom[]> {
  let last: { readonly hash: string; readonly balances: Balances | null } | null = null;

  return async (blocks, accounts) => {
    const [first, tip] = [blocks[0], blocks.at(-1)];
    if (first === undefined || tip === undefined || accounts.size === 0) return [];
    const treasuries = await treasuriesOn(app.db, network);
    const holders = treasuries.map((address) => ({ address }));
    const balancesAfter = async (block: BlockId): Promise<Balances | null> =>
      last?.hash === block.hash ? last.balances : balancesOf(native, holders, block);
    const isUnexplained = (was: Balances | null, is: Balances | null, between: readonly ChainBlock[]): boolean =>
      treasuries.some((treasury) => {
        const [had, has] = [was?.get(treasury), is?.get(treasury)];
        return had !== undefined && has !== undefined && has - had !== plainTo(treasury, native.asset, between);
      });

    let was = await balancesAfter({ height: first.height - 1, hash: first.parentHash });
    const atTip = await balancesOf(native, holders, tip);
    last = { hash: tip.hash, balances: atTip };
    if (was !== null && !isUnexplained(was, atTip, blocks)) return [];

    const taken: TakenFrom[] = [];
    for (const block of blocks.slice(-BLOCKS_WITH_BALANCES)) {
      const is = block === tip ? atTip : await balancesAfter(block);
      if (isUnexplained(was, is, [block])) {
        const moved = await native.internalTransfers(block, new Set([...accounts.keys(), ...treasuries]));
        const touched = new Set((moved ?? []).flatMap(({ from, address }) => [from, address]));
        for (const address of touched) {
          if (accounts.has(address)) taken.push({ address, height: block.height, treasury: null });
        }
      }
      was = is;
    }
    return taken;
  };
}

/** The sum that a block's transactions paid to an address, without transfers by contracts. */
function plainTo(treasury: string, asset: NativeBalances['asset'], blocks: readonly ChainBlock[]): bigint {
  return blocks
    .flatMap(({ transfers }) => transfers)
    .filter((transfer) => transfer.address === treasury && transfer.asset === asset)
    .reduce((sum, { amount }) => sum + amount, 0n);
}
