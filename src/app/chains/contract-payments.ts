import type { BlockId, ChainBlock, ChainSource, NativeBalances } from '../../rails/chain.ts';
import { addressesNamed, openOutflows, type NamedTaking, type TakenFrom } from '../../store/chains/coin-outflows.ts';
import { awaitingLost } from '../../store/chains/lost-transfers.ts';
import { awaitingMoney } from '../../store/wallets/watched-addresses.ts';
import type { App } from '../context.ts';
import type { FoundTransfer } from '../payments/chain-money.ts';
import {
  beginComparisons,
  compareAfter,
  compareAgain,
  compareAround,
  leaveOpen,
  MAX_TRACED_BLOCKS,
  noteFormerCoins,
  stepOf,
  type Accounts,
  type ContractTransfers,
} from './compare-balances.ts';
import { BLOCKS_WITH_BALANCES, createTreasuryWatch } from './treasury-watch.ts';

/** Higher than any deposit index that a contract uses; fits into four bytes. */
const MAX_INDEX = 2 ** 31 - 1;

/** How often addresses of payments that ended, or that ask for another asset, are checked while they are watched. */
const ENDED_STEP_MS = 10 * 60_000;

/** Finds native coins that contracts transferred: no block lists them, but they show in the balance. */
export interface ContractWatch {
  /** Finds such transfers to payments' addresses after these blocks; `found` are the transfers that the blocks list. */
  find(blocks: readonly ChainBlock[], found: readonly FoundTransfer[]): Promise<ContractTransfers>;
}

const NOTHING: ContractTransfers = { found: [], outflows: [], resolved: [] };

/**
 * Compares the balances of payments' addresses with the recorded transfers: after the newest block, and around each
 * block in which a transaction may have taken coins from an address, because an arrival and a departure would hide each
 * other. A difference is explained by tracing the newest blocks. If no node can trace it, it is recorded without a hash
 * and the merchant may accept it.
 */
export function createContractWatch(app: App, source: ChainSource): ContractWatch {
  const native = source.native ?? null;
  let newest: readonly ChainBlock[] = [];
  let endedCheckedAt = 0;
  const unnamedTakings = native === null ? null : createTreasuryWatch(app, source, native);

  return {
    find: async (blocks, listed) => {
      const tip = blocks.at(-1);
      if (native === null || tip === undefined) return NOTHING;
      const [first = tip] = blocks;
      const parent = { height: first.height - 1, hash: first.parentHash };
      newest = [...newest.filter(({ height }) => height < first.height), ...blocks].slice(-MAX_TRACED_BLOCKS);
      const now = app.clock();
      const { network } = source;
      const isTimeForEnded = now - endedCheckedAt >= ENDED_STEP_MS || now < endedCheckedAt;
      const named = await addressesNamed(app.db, network, blocks.flatMap(takingsOf));
      const accounts = await readAccounts(app, source, native, parent, named, isTimeForEnded ? now : null);
      const unnamed = (await unnamedTakings?.(blocks, accounts)) ?? [];
      const taken = [...named, ...unnamed].toSorted((a, b) => a.height - b.height);
      for (const { block, transfer } of listed) {
        if (transfer.asset === native.asset) accounts.get(transfer.address)?.steps.push(stepOf(block, transfer.amount));
      }
      const comparisons = beginComparisons(app, source, native, newest);
      await noteFormerCoins(comparisons, parent, accounts);
      for (const [height, ofBlock] of Map.groupBy(taken, (one) => one.height)) {
        const at = blocks.findIndex((block) => block.height === height);
        const block = blocks[at];
        if (block === undefined) continue;
        const before = blocks[at - 1] ?? parent;
        const isKnown = await compareAround(comparisons, { before, block }, ofBlock, accounts);
        if (!isKnown) leaveOpen(comparisons, ofBlock, accounts);
      }
      // Balances are compared only at the head, not while older blocks are being read.
      if ((await compareAfter(comparisons, tip, accounts)) && isTimeForEnded) endedCheckedAt = now;
      for (const [height, ofBlock] of Map.groupBy(await openOutflows(app.db, network), (one) => one.height)) {
        const hasBalances = height > tip.height - BLOCKS_WITH_BALANCES;
        if (isTimeForEnded || hasBalances) await compareAgain(comparisons, height, ofBlock);
      }
      return comparisons;
    },
  };
}

function takingsOf({ height, takers }: ChainBlock): readonly NamedTaking[] {
  const { senders = [], flushed = [], sweeps = [] } = takers ?? {};
  return [
    ...[...senders, ...flushed].map((address) => ({ height, address })),
    ...sweeps.flatMap(({ treasury, indexes }) =>
      indexes.filter((index) => index <= MAX_INDEX).map((index) => ({ height, treasury, index })),
    ),
  ];
}

/** The accounts to compare, as they were before the blocks that are being read. */
async function readAccounts(
  app: App,
  { network }: ChainSource,
  { asset }: NativeBalances,
  { hash: readBlock }: BlockId,
  taken: readonly TakenFrom[],
  watchedAt: number | null,
): Promise<Accounts> {
  const others = [...new Set(taken.map(({ address }) => address))];
  const ofPayments = await awaitingMoney(app.db, network, asset, { readBlock, watchedAt, others });
  const handedOut = new Set(ofPayments.map(({ address }) => address));
  const since = app.clock() - app.policy.monitoringMs;
  const isTimeForLost = watchedAt !== null || others.some((address) => !handedOut.has(address));
  const ofNobody = isTimeForLost ? await awaitingLost(app.db, network, asset, since) : [];
  return new Map(
    [...ofPayments, ...ofNobody].map(({ address, units, ...of }) => [
      address,
      { ...of, steps: [{ height: -1, units }] },
    ]),
  );
}
