import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { refusalText } from '../app/rejected.ts';
import type { AssetCode } from '../domain/asset-code.ts';
import { familyFacts, settingOf, type Network } from '../domain/networks.ts';
import { ChainUnavailableError, type ChainBlock, type ChainSource, type ChainTransfer } from './chain.ts';
import type { WalletSource, UtxoChains } from './family.ts';
import { createChainSource, rulesOf, type NetworkNodes } from './networks.ts';
import { NO_REPORTS } from '../domain/problems.ts';

/** A chain of its own, with money to pay from; blocks come only when asked for. */
export interface TestChain {
  readonly network: Network;
  /** Opens a source that follows the chain. */
  readonly open: () => ChainSource;
  /** One of many addresses, as customers are shown it. */
  readonly addressAt: (index: number) => string;
  /** The assets that can be paid on it. */
  readonly assets: readonly AssetCode[];
  /** Sends so many smallest units, which wait until a block is mined; answers with the transaction's hash. */
  readonly pay: (asset: AssetCode, address: string, units: bigint) => Promise<string>;
  readonly mine: (count: number) => Promise<void>;
  /** Takes the newest block back, and mines at least two others in its place. */
  readonly reorganise: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** A chain on a real node. */
export interface NodeChain extends Omit<TestChain, 'network' | 'open' | 'addressAt'> {
  /** The nodes as an operator would set them; one URL, which answers. */
  readonly nodes: NetworkNodes;
  /** The same node, set for another chain of the network. */
  readonly misplaced: NetworkNodes;
  /** The chain of each network with addresses of its own. */
  readonly chains: UtxoChains;
  /** A wallet that money is sent to. */
  readonly wallet: WalletSource;
}

/** A URL where nobody listens, with credentials that must not be shown. */
const DEAD_URL = 'http://operator:s3cret-word@127.0.0.1:1/path-of-s3cret';
/** More than nodes take for dust. */
const UNITS = 1_234_567n;

/** The way in which a source learns of waiting transactions, besides its blocks. */
type Waiting = 'mempool' | 'locate' | 'unknown';

/** The guarantees that the rest of the program relies on: every `ChainSource` passes them. */
export function describeSource(network: Network, start: () => Promise<TestChain>, waiting: Waiting): void {
  describe(`the source of ${network}`, () => {
    let chain: TestChain;
    let nextAddress = 0;
    beforeAll(async () => {
      chain = await start();
    });
    afterAll(() => chain?.stop());
    /** Its source is closed when the test ends, its address is a fresh one. */
    const open: Open = () => {
      const source = chain.open();
      onTestFinished(() => source.close());
      nextAddress += 1;
      return { chain, source, address: chain.addressAt(nextAddress) };
    };
    describeBlocks(open);
    describeMoney(open);
    if (waiting === 'mempool') describeMempool(open);
    if (waiting === 'locate') describeLocate(open);
  });
}

/** The same of a real chain's source, as the program makes it, and what it owes to those who run nodes. */
export function describeChain(network: Network, start: () => Promise<NodeChain>): void {
  describe('on a real node', () => {
    let chain: NodeChain;
    beforeAll(async () => {
      chain = await start();
    });
    afterAll(() => chain?.stop());
    const asTestChain = async (): Promise<TestChain> => {
      const parsed = rulesOf(network).parseWallet(chain.wallet, chain.chains);
      if (parsed.kind === 'invalid') throw new Error(refusalText(parsed.fault));
      const { deriver } = parsed;
      // The tests need the node longer.
      return {
        ...chain,
        network,
        open: () => sourceOf(chain.nodes),
        addressAt: (index) => deriver.addressAt(index),
        stop: async () => {},
      };
    };
    describeSource(network, asTestChain, familyFacts(network).seesWaiting ? 'mempool' : 'locate');
    describeNodes(network, () => chain);
  });
}

function sourceOf(nodes: NetworkNodes): ChainSource {
  return createChainSource(nodes, { timeoutMs: 10_000, problems: NO_REPORTS });
}

type Open = () => { readonly chain: TestChain; readonly source: ChainSource; readonly address: string };

function describeBlocks(open: Open): void {
  describe('blocks', () => {
    it('end with the head, which is the same whichever way it is asked for', async () => {
      const { chain, source } = open();
      await chain.mine(1);
      const { height, hash } = await source.head();
      const block = await blockAt(source, height);
      expect(block).toMatchObject({ height, hash });
      expect(await source.hashAt(height)).toBe(hash);
      expect(await source.header(height)).toEqual({ height, hash, timeMs: block.timeMs });
      const above = height + 1;
      expect([await source.hashAt(above), await source.header(above), await source.block(above)]).toEqual([
        null,
        null,
        null,
      ]);
      expect(await source.blocks(above, 5)).toEqual([]);
    });

    it('follow one another, dated in epoch milliseconds, and are the same many at once as one by one', async () => {
      const { chain, source } = open();
      await chain.mine(5);
      const { height } = await source.head();
      const blocks = await source.blocks(height - 4, 100);
      expect(blocks.map((block) => block.height)).toEqual([4, 3, 2, 1, 0].map((depth) => height - depth));
      expect(blocks.slice(1).map((block) => block.parentHash)).toEqual(blocks.slice(0, -1).map((block) => block.hash));
      for (const block of blocks) {
        expect(await source.block(block.height)).toEqual(block);
        expect(block.timeMs % 1_000).toBe(0);
        expect(block.timeMs).toBeGreaterThan(Date.UTC(2020, 0));
      }
      expect(await source.blocks(height - 4, 2)).toEqual(blocks.slice(0, 2));
    });

    it('are those of the best chain after a reorganisation', async () => {
      const { chain, source } = open();
      await chain.mine(2);
      const old = await source.head();
      const parent = await source.hashAt(old.height - 1);
      await chain.reorganise();
      const fresh = await blockAt(source, old.height);
      expect(fresh.hash).not.toBe(old.hash);
      expect(fresh.parentHash).toBe(parent);
      expect(await source.hashAt(old.height)).toBe(fresh.hash);
      expect((await source.head()).height).toBeGreaterThan(old.height);
    });
  });
}

function describeMoney(open: Open): void {
  describe('money', () => {
    it('of each asset is shown once, to the address as it is watched and in the smallest unit', async () => {
      const { chain, source, address } = open();
      const rules = rulesOf(chain.network);
      expect(chain.assets.length).toBeGreaterThan(0);
      for (const asset of chain.assets) {
        const transactionHash = await chain.pay(asset, address, UNITS);
        await chain.mine(1);
        const block = await blockAt(source, (await source.head()).height);
        const paid = paidTo(block.transfers, rules.matchingAddress(address));
        const index = expect.any(Number);
        expect(paid).toEqual([
          { transactionHash, index, address: rules.matchingAddress(address), asset, amount: UNITS },
        ]);
        expect(await source.block(block.height)).toEqual(block);
        expect(await source.dropReverted(block, paid)).toEqual(paid);
        expect(await source.dropReverted(block, [])).toEqual([]);
        expect(rules.shownAddress(rules.matchingAddress(address))).toBe(address);
        expect(transactionHash).toBe(rules.transactionHash(transactionHash.slice(-64)));
      }
    });
  });
}

function describeMempool(open: Open): void {
  it('money that waits is shown as its block will show it, and not once it is mined', async () => {
    const { chain, source, address } = open();
    const { mempool } = source;
    if (mempool === null) throw new Error('nothing shows what waits');
    const rules = rulesOf(chain.network);
    const asset = firstOf(chain.assets);
    const nobodys = rules.transactionHash('7'.repeat(64));
    const hash = await chain.pay(asset, address, UNITS);
    expect((await mempool.waiting())?.hashes).toContain(hash);
    const waiting = paidTo(await mempool.transfersOf([hash, nobodys]), rules.matchingAddress(address));
    expect(waiting).toMatchObject([{ transactionHash: hash, asset, amount: UNITS }]);
    await chain.mine(1);
    const block = await blockAt(source, (await source.head()).height);
    expect(paidTo(block.transfers, rules.matchingAddress(address))).toEqual(waiting);
    expect((await mempool.waiting())?.hashes).not.toContain(hash);
    expect(await mempool.transfersOf([nobodys])).toEqual([]);
  });
}

function describeLocate(open: Open): void {
  it('money that waits is told from what is in a block, and from what nobody sent', async () => {
    const { chain, source, address } = open();
    const { mempool, locate } = source;
    if (mempool !== null || locate === undefined) throw new Error('nothing tells where a transaction is');
    const nobodys = rulesOf(chain.network).transactionHash('7'.repeat(64));
    const hash = await chain.pay(firstOf(chain.assets), address, UNITS);
    const waiting = await locate([hash, nobodys]);
    expect([waiting.get(hash), waiting.get(nobodys)]).toEqual([{ kind: 'waiting' }, { kind: 'nowhere' }]);
    await chain.mine(1);
    const mined = await locate([hash]);
    expect(mined.get(hash)).toEqual({ kind: 'block', height: (await source.head()).height });
  });
}

function describeNodes(network: Network, chain: () => NodeChain): void {
  const open = (nodes = chain().nodes): ChainSource => {
    const source = sourceOf(nodes);
    onTestFinished(() => source.close());
    return source;
  };

  describe(`the nodes of ${network}`, () => {
    it('that answer are reported with their height and without a problem', async () => {
      const source = open();
      const { height } = await source.head();
      expect(await source.checkNodes()).toEqual([
        { node: new URL(chain().nodes.urls[0] ?? '').origin, height, problem: null },
      ]);
    });

    it('of another chain are never read, and reported with the setting that is wrong', async () => {
      const source = open(chain().misplaced);
      const setting = settingOf(network, 'RPC_URL');
      const failure = await source.head().catch((fault: unknown) => fault);
      expect(failure).toBeInstanceOf(ChainUnavailableError);
      expect(failure).toMatchObject({ network: network, message: expect.stringContaining(setting) });
      expect(await source.checkNodes()).toMatchObject([{ problem: expect.stringContaining(setting) }]);
    });

    it('stand in for one that is down, whose credentials are shown nowhere', async () => {
      const { nodes } = chain();
      const source = open({ ...nodes, urls: [DEAD_URL, ...nodes.urls] });
      const alone = open({ ...nodes, urls: [DEAD_URL] });
      const head = await source.head();
      expect(await open().head()).toEqual(head);
      const reports = await source.checkNodes();
      expect(reports).toMatchObject([{ problem: expect.any(String) }, { height: head.height, problem: null }]);
      const failure = await alone.head().catch((fault: unknown) => fault);
      expect(failure).toBeInstanceOf(ChainUnavailableError);
      expect(JSON.stringify(reports) + String(failure) + JSON.stringify(failure)).not.toContain('s3cret');
    });

    it('are refused at once where their URL is none, or there is none of them', () => {
      for (const urls of [['ftp://127.0.0.1'], []]) {
        expect(() => createChainSource({ ...chain().nodes, urls }, { timeoutMs: 1, problems: NO_REPORTS })).toThrow(
          RangeError,
        );
      }
    });
  });
}

function firstOf(assets: readonly AssetCode[]): AssetCode {
  const [asset] = assets;
  if (asset === undefined) throw new Error('nothing can be paid on the chain');
  return asset;
}

function paidTo(transfers: readonly ChainTransfer[], watched: string): readonly ChainTransfer[] {
  return transfers.filter(({ address }) => address === watched);
}

async function blockAt(source: ChainSource, height: number): Promise<ChainBlock> {
  const block = await source.block(height);
  if (block === null) throw new Error(`the node has no block ${height}`);
  return block;
}
