import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startUtxoNode, utxoNodeKinds, type UtxoNode } from '../../../test/litecoind.ts';
import { startNode } from '../../../test/rpc-node.ts';
import { blockAt, deadUrl, failureOf } from '../source.fixture.ts';
import { COINS, nodeLike, paramsOf, sourceOf } from './source.fixture.ts';
import { DEADLINE_MS } from '../../../test/deadline.ts';

const UNKNOWN = '7'.repeat(64);

describe.each(utxoNodeKinds())('a %s node', (kind) => {
  let node: UtxoNode;
  const asset = COINS[kind];
  beforeAll(async () => {
    node = await startUtxoNode({ kind });
    await node.fund();
    // Several coins, so that a payment need not wait for the change of the one before.
    await node.mine(10);
  });
  afterAll(() => node.stop());

  const height = async (): Promise<number> => Number(await node.rpc('getblockcount'));

  describe('shows a block', () => {
    it('with its payments, its time and the block before it', async () => {
      const source = sourceOf(kind, [node.url]);
      const parent = await source.head();
      const [first, second] = [await node.newAddress('bech32'), await node.newAddress('p2sh-segwit')];
      const one = await node.send(first, '0.3');
      const other = await node.send(second, '0.00100001');
      const [hash] = await node.mine(1);

      const block = await blockAt(source, parent.height + 1);
      const { time } = Object(await node.rpc('getblockheader', [hash]));
      expect(block).toMatchObject({ height: parent.height + 1, hash, parentHash: parent.hash, timeMs: time * 1_000 });
      const paid = block.transfers.filter(({ address }) => [first, second].includes(address));
      const index = expect.any(Number);
      expect(new Set(paid)).toEqual(
        new Set([
          { transactionHash: one, index, address: first, asset, amount: 30_000_000n },
          { transactionHash: other, index, address: second, asset, amount: 100_001n },
        ]),
      );
      expect(await source.head()).toEqual({ height: parent.height + 1, hash });
      expect(await source.dropReverted(block, paid)).toEqual(paid);
    });

    it('that is null above the newest one, and the genesis block like any other', async () => {
      const source = sourceOf(kind, [node.url]);
      expect(await source.block((await height()) + 1)).toBeNull();
      expect(await blockAt(source, 0)).toMatchObject({
        hash: paramsOf(kind).genesisHash,
        parentHash: '0'.repeat(64),
        transfers: [],
      });
    });

    it('with the same hash and time when only its header is asked for', async () => {
      const source = sourceOf(kind, [node.url]);
      const newest = await height();
      for (const at of [0, newest]) {
        const { hash, timeMs } = await blockAt(source, at);
        expect(await source.header(at)).toEqual({ height: at, hash, timeMs });
        expect(await source.hashAt(at)).toBe(hash);
      }
      expect([await source.header(newest + 1), await source.hashAt(newest + 1)]).toEqual([null, null]);
    });

    it('of its best chain after a reorganisation', async () => {
      const source = sourceOf(kind, [node.url]);
      const address = await node.newAddress();
      await node.mine(6);
      const tip = await height();
      const before = await source.blocks(tip - 5, 6);
      await node.rpc('invalidateblock', [before[0]?.hash]);
      expect(await source.head()).toMatchObject({ height: tip - 6, hash: before[0]?.parentHash });
      expect(await source.blocks(tip - 5, 6)).toEqual([]);

      await node.mine(7, address);
      const after = await source.blocks(tip - 5, 10);
      expect(after.map((block) => block.height)).toEqual([5, 4, 3, 2, 1, 0, -1].map((depth) => tip - depth));
      expect(after[0]?.parentHash).toBe(before[0]?.parentHash);
      expect(before.map((block) => block.hash)).not.toContain(after[0]?.hash);
      expect(after.every(({ transfers }) => transfers.some((transfer) => transfer.address === address))).toBe(true);
    });
  });

  describe('shows several blocks', () => {
    it('in order, up to the newest one, and the same as one by one', async () => {
      const source = sourceOf(kind, [node.url]);
      const newest = await height();
      const all = await source.blocks(1, newest + 50);
      expect(all.map((block) => block.height)).toEqual(Array.from({ length: newest }, (_, i) => i + 1));
      expect(await source.blocks(1, newest)).toEqual(all);
      for (const at of [1, 5, newest]) expect(await source.block(at)).toEqual(all[at - 1]);
      expect(await source.blocks(3, 4)).toEqual(all.slice(2, 6));
      expect(await source.blocks(newest + 1, 5)).toEqual([]);
      expect(await source.blocks(newest + 9, 5)).toEqual([]);
      expect(await source.blocks(3, 0)).toEqual([]);
    });

    it('up to where one does not follow on the one before it', async () => {
      const newest = await height();
      const orphan = await node.rpc('getblockhash', [newest]);
      await node.rpc('invalidateblock', [orphan]);
      await node.mine(3, await node.newAddress());
      const torn = await nodeLike(node, ({ method, params }) =>
        method === 'getblockhash' && JSON.stringify(params) === `[${newest}]` ? { result: orphan } : null,
      );
      const blocks = await sourceOf(kind, [torn.url]).blocks(newest - 5, 8);
      expect(blocks.map((block) => block.height)).toEqual([5, 4, 3, 2, 1, 0].map((depth) => newest - depth));
      expect(blocks.at(-1)?.hash).toBe(orphan);
    });

    it('up to where the node does not have one', async () => {
      const seventh = await node.rpc('getblockhash', [7]);
      const pruned = await nodeLike(node, ({ method, params }) =>
        method === 'getblock' && JSON.stringify(params).includes(String(seventh))
          ? { error: { code: -5, message: 'Block not found' } }
          : null,
      );
      const source = sourceOf(kind, [pruned.url]);
      expect((await source.blocks(3, 40)).map((block) => block.height)).toEqual([3, 4, 5, 6]);
      expect(await source.block(7)).toBeNull();
      expect(source.warnings).toEqual([]);
    });

    it('all of them, a few at a time, from a node that cannot give many at once', async () => {
      const newest = await height();
      let refused = 0;
      const weak = await nodeLike(node, () => null, {
        batch: (calls) => {
          if (calls.length <= 3 || calls[0]?.method !== 'getblock') return null;
          refused += 1;
          return { status: 413 };
        },
      });
      const source = sourceOf(kind, [weak.url]);
      const heights: number[] = [];
      while (heights.length < newest) {
        const blocks = await source.blocks(heights.length + 1, 100);
        expect(blocks.length).toBeGreaterThan(0);
        heights.push(...blocks.map((block) => block.height));
      }
      expect(heights).toEqual(Array.from({ length: newest }, (_, i) => i + 1));
      expect(refused).toBeGreaterThan(0);
    });
  });

  describe('shows what waits', () => {
    const waiting = async (): Promise<readonly string[]> => {
      const view = await sourceOf(kind, [node.url]).mempool?.waiting();
      if (!view) throw new Error('the mempool is not known');
      expect(view.proof).toBe('mempool');
      return view.hashes;
    };
    const paidBy = async (...hashes: readonly string[]) => sourceOf(kind, [node.url]).mempool?.transfersOf(hashes);

    it('as soon as it is sent and until it is mined', async () => {
      const address = await node.newAddress();
      const hash = await node.send(address, '0.25');
      expect(await waiting()).toEqual([hash]);
      const paid = await paidBy(hash);
      expect(paid).toContainEqual({
        transactionHash: hash,
        index: expect.any(Number),
        address,
        asset,
        amount: 25_000_000n,
      });
      await node.mine(1);
      expect(await waiting()).toEqual([]);
      const block = await blockAt(sourceOf(kind, [node.url]), await height());
      expect(block.transfers.filter(({ transactionHash }) => transactionHash === hash)).toEqual(paid);
    });

    it('without what was replaced by a transaction with a higher fee', async () => {
      const address = await node.newAddress();
      const replaced = await node.send(address, '0.5');
      const { txid } = Object(await node.rpc('bumpfee', [replaced]));
      expect(await waiting()).toEqual([txid]);
      const paid = await paidBy(replaced, txid);
      expect(paid?.filter((transfer) => transfer.address === address)).toMatchObject([
        { transactionHash: txid, amount: 50_000_000n },
      ]);
      await node.mine(1);
    });

    it('without what was spent a second time, elsewhere', async () => {
      const { raw: honest, address } = await spendLargestCoin(node, '0.001');
      const { raw: fraud, address: elsewhere } = await spendLargestCoin(node, '0.01');
      const first = String(await node.rpc('sendrawtransaction', [honest]));
      expect(await waiting()).toEqual([first]);
      const second = String(await node.rpc('sendrawtransaction', [fraud]));
      expect(await waiting()).toEqual([second]);
      expect((await paidBy(first, second))?.map((transfer) => transfer.address)).toEqual([elsewhere]);
      await node.mine(1);
      const { transfers } = await blockAt(sourceOf(kind, [node.url]), await height());
      expect(transfers.map((transfer) => transfer.address)).not.toContain(address);
    });

    it('of many hashes those that it knows, in their order', async () => {
      const sent: string[] = [];
      for (let i = 0; i < 3; i += 1) sent.push(await node.send(await node.newAddress(), '0.1'));
      const many = Array.from({ length: 250 }, (_, i) => sent[i % 80] ?? i.toString(16).padStart(64, '0'));
      const paid = await paidBy(...many);
      const hashes = paid?.map(({ transactionHash }) => transactionHash) ?? [];
      expect(hashes.filter((hash, i) => hash !== hashes[i - 1])).toEqual([...sent, ...sent, ...sent, ...sent]);
      await node.mine(1);
      expect(await paidBy()).toEqual([]);
    });

    it('with the signs that it may never be mined', async () => {
      const doubts = async (url: string, ...hashes: readonly string[]) =>
        sourceOf(kind, [url]).mempool?.doubtsOf(hashes);
      const to = async (): Promise<string> => node.newAddress();
      const sendSaying = async (replaceable: boolean): Promise<string> =>
        String(await node.rpc('sendtoaddress', [await to(), '0.1', '', '', false, replaceable]));
      const [fine, replaceable] = [await sendSaying(false), await sendSaying(true)];
      expect(await doubts(node.url, fine, replaceable, UNKNOWN)).toEqual(
        new Map([
          [replaceable, 'replaceable'],
          [UNKNOWN, 'unknown'],
        ]),
      );
      // A new chain has no estimate of fees, so the node is given one.
      const dear = await nodeLike(node, ({ method }) =>
        method === 'estimatesmartfee' ? { result: { feerate: 1, blocks: 6 } } : null,
      );
      expect(await doubts(dear.url, fine, replaceable)).toEqual(
        new Map([
          [fine, 'low_fee'],
          [replaceable, 'replaceable'],
        ]),
      );
      await node.mine(1);
      expect(await doubts(node.url)).toEqual(new Map());
    });

    it('as unknown while the mempool is being loaded', async () => {
      const starting = await nodeLike(node, ({ method }) =>
        method === 'getmempoolinfo' ? { result: { loaded: false, size: 0 } } : null,
      );
      expect(await sourceOf(kind, [starting.url]).mempool?.waiting()).toBeNull();
    });
  });

  describe('that ends and starts again', () => {
    it('is reported as unavailable, and used again with what it kept', async () => {
      const source = sourceOf(kind, [node.url]);
      const hash = await node.send(await node.newAddress(), '0.1');
      const head = await source.head();
      const halted = node.halt();
      const fault = (): Promise<unknown> => source.head().catch((error: unknown) => String(error));
      await expect.poll(fault, { timeout: DEADLINE_MS }).toContain('ECONNREFUSED');
      await halted;
      await failureOf(source.head());
      await failureOf(source.blocks(1, 5));
      expect(await source.checkNodes()).toMatchObject([
        { height: null, problem: expect.stringContaining('ECONNREFUSED') },
      ]);
      await node.restart();
      expect(await source.head()).toEqual(head);
      expect(await source.checkNodes()).toMatchObject([{ height: head.height, problem: null }]);
      await expect.poll(() => source.mempool?.waiting(), { timeout: DEADLINE_MS }).toMatchObject({ hashes: [hash] });
    });
  });

  describe('that is one of several', () => {
    it('stands in for one that is down', async () => {
      const dead = await deadUrl();
      const source = sourceOf(kind, [dead, node.url]);
      expect((await source.head()).height).toBe(await height());
      expect(source.warnings).toHaveLength(1);
      expect(await source.blocks(1, 30)).toHaveLength(30);
      expect(source.warnings).toHaveLength(1);
      expect(await source.checkNodes()).toEqual([
        { node: dead, height: null, problem: expect.stringContaining('ECONNREFUSED') },
        { node: `http://127.0.0.1:${node.port}`, height: await height(), problem: null },
      ]);
    });

    it('comes before one that lags three blocks', async () => {
      const newest = await height();
      let late = newest - 3;
      const slow = await nodeLike(node, ({ method }) => (method === 'getblockcount' ? { result: late } : null));
      const source = sourceOf(kind, [slow.url, node.url]);
      expect((await source.checkNodes())[0]?.problem).toBe('it lags 3 blocks behind the best node');
      expect(await source.blocks(newest, 1)).toHaveLength(1);
      late = newest - 2;
      expect((await source.checkNodes())[0]?.problem).toBeNull();
    });

    const spoilt: readonly (readonly [string, string, unknown])[] = [
      ['a head without a hash', 'getblockchaininfo', { blocks: 5 }],
      ['a head with a height that is no number', 'getblockchaininfo', { blocks: '5', bestblockhash: UNKNOWN }],
      ['a head below zero', 'getblockchaininfo', { blocks: -1, bestblockhash: UNKNOWN }],
      ['an array', 'getblockchaininfo', []],
      ['null', 'getblockchaininfo', null],
      ['a count that is no number', 'getblockcount', 'many'],
      ['a hash cut short', 'getblockhash', '12'],
      ['a hash in capitals', 'getblockhash', 'A'.repeat(64)],
      ['a block in JSON', 'getblock', { hash: UNKNOWN }],
      ['half a block', 'getblock', '00'.repeat(60)],
      ['a mempool that is no list', 'getrawmempool', {}],
      ['a mempool of numbers', 'getrawmempool', [1]],
      ['no state of the mempool', 'getmempoolinfo', 'fine'],
      ['half a transaction', 'getrawtransaction', '0200'],
    ];
    it.each(spoilt)('stands in for one that answers with %s', async (_name, method, result) => {
      // The genesis block is right, or the node would not be used at all.
      const broken = await nodeLike(node, (call) =>
        call.method === method && JSON.stringify(call.params) !== '[0]' ? { result } : null,
      );
      const hash = await node.send(await node.newAddress(), '0.1');
      const read = async (...urls: readonly string[]) => {
        const source = sourceOf(kind, urls);
        const pool = source.mempool;
        const seen = [
          await source.head(),
          await source.blocks(1, 9),
          await pool?.waiting(),
          await pool?.transfersOf([hash]),
        ];
        return { seen, warnings: source.warnings };
      };
      const { seen, warnings } = await read(broken.url, node.url);
      expect(seen).toEqual((await read(node.url)).seen);
      expect(warnings).toMatchObject([{ node: broken.url, problem: expect.stringContaining('malformed answer') }]);
      expect((await failureOf(read(broken.url))).message).toContain('malformed answer');
      await node.mine(1);
    });

    it.each([
      ['lacks the method', { code: -32601, message: 'Method not found' }],
      ['is starting', { code: -28, message: 'Loading block index' }],
      ['has pruned the block', { code: -1, message: 'Block not available (pruned data)' }],
    ])('stands in for one that %s', async (_name, error) => {
      const poor = await nodeLike(node, ({ params }) => (JSON.stringify(params) === '[0]' ? null : { error }));
      const source = sourceOf(kind, [poor.url, node.url]);
      expect(await source.blocks(1, 2)).toHaveLength(2);
      expect(await source.mempool?.waiting()).toEqual({ hashes: [], proof: 'mempool' });
      expect((await failureOf(sourceOf(kind, [poor.url]).head())).message).toContain(error.message);
      const mempool = sourceOf(kind, [poor.url]).mempool;
      expect((await failureOf(mempool?.waiting() ?? Promise.resolve())).message).toContain(error.message);
    });

    it('stands in for one that gives another block than the one asked for', async () => {
      const other = await node.rpc('getblockhash', [1]);
      const confused = await nodeLike(node, async ({ method }) =>
        method === 'getblock' ? { result: await node.rpc('getblock', [other, 0]) } : null,
      );
      const source = sourceOf(kind, [confused.url, node.url]);
      expect(await source.block(2)).toMatchObject({ parentHash: other });
      expect(source.warnings).toMatchObject([{ problem: expect.stringContaining('not the requested one') }]);
    });

    it('stands in for one that stalls', async () => {
      const stalled = await nodeLike(node, ({ method }) =>
        method === 'getblockchaininfo' ? { text: '[{"jsonrpc":', stall: true } : null,
      );
      const source = sourceOf(kind, [stalled.url, node.url], { timeoutMs: 500 });
      expect((await source.head()).height).toBe(await height());
      expect(source.warnings).toMatchObject([{ problem: 'no complete answer within 500 ms' }]);
    });
  });

  describe('on another chain', () => {
    it('is named with the way out, and never used', async () => {
      const source = sourceOf(kind, [node.url], { chain: 'main' });
      const setting = kind.toUpperCase();
      const problem =
        `The node http://127.0.0.1:${node.port} is on ${kind}'s chain "regtest", but ${kind}'s chain "main" is expected. ` +
        `Set ${setting}_RPC_URL to a node of ${kind}'s chain "main", or ${setting}_CHAIN to regtest.`;
      expect(await source.checkNodes()).toEqual([{ node: `http://127.0.0.1:${node.port}`, height: null, problem }]);
      expect((await failureOf(source.head())).message).toContain(problem);
      await failureOf(source.blocks(0, 1));
      await failureOf(source.mempool?.waiting() ?? Promise.resolve());
    });

    it('is reported as one of another network, which no setting of the chain would fix', async () => {
      const other = kind === 'litecoin' ? 'bitcoin' : 'litecoin';
      const { message } = await failureOf(sourceOf(other, [node.url]).head());
      expect(message).toContain(
        `is on ${kind}'s chain "regtest", but ${other}'s chain "regtest" is expected. Set ${other.toUpperCase()}_RPC_URL`,
      );
      expect(message).not.toContain('_CHAIN to');
    });

    it('is reported if it is unknown, or if it is no node of this kind at all', async () => {
      const strange = await nodeLike(node, () => ({ result: UNKNOWN }));
      const { message } = await failureOf(sourceOf(kind, [strange.url]).head());
      expect(message).toContain(`an unknown chain (block 0 is ${UNKNOWN})`);
      const evm = await nodeLike(node, () => ({ error: { code: -32601, message: 'Method not found' } }));
      const fault = await failureOf(sourceOf(kind, [evm.url]).head());
      expect(fault.message).toContain(
        `Set ${kind.toUpperCase()}_RPC_URL to a node that offers Bitcoin Core's JSON-RPC`,
      );
    });

    it('is noticed when it takes the place of the right one', async () => {
      const right = await startUtxoNode({ kind });
      onTestFinished(() => right.stop());
      const source = sourceOf(kind, [right.url]);
      expect((await source.head()).height).toBe(0);
      await right.stop();
      const wrong = await startUtxoNode({ kind, chain: 'test', port: right.port, password: right.password });
      onTestFinished(() => wrong.stop());
      expect((await source.checkNodes())[0]?.problem).toMatch(/chain "test", but .* "regtest" is expected/);
      await failureOf(source.head());
    });
  });

  describe('with credentials in its URL', () => {
    it('that are wrong are reported, without showing them', async () => {
      const wrong = node.url.replace(node.password, 's3cr3t%3Ap%2Fw');
      const source = sourceOf(kind, [wrong]);
      const fault = await failureOf(source.head());
      expect(fault.message).toContain('HTTP status 401: the credentials in the URL were refused');
      const shown = `${fault.stack} ${JSON.stringify([fault, source.warnings, await source.checkNodes()])}`;
      expect(shown).not.toMatch(/s3cr3t|p\/w|p%2Fw/);
      expect(shown).toContain(`127.0.0.1:${node.port}`);
    });

    it('shows them nowhere when it fails or is down', async () => {
      const echo = await startNode((call) => ({
        error: { code: -1, message: `bad key in ${call.path} of ${call.authorization ?? ''} s3cr3t:p/w` },
      }));
      onTestFinished(() => echo.stop());
      for (const url of [echo.url, await deadUrl()]) {
        const source = sourceOf(kind, [`${url.replace('//', '//s3cr3t:s3cr3t%3Ap%2Fw@')}/v1/0123456789abcdef`]);
        const fault = await failureOf(source.head());
        const shown = `${fault.stack} ${String(fault.cause)} ${JSON.stringify([fault, source.warnings, await source.checkNodes()])}`;
        expect(shown).not.toMatch(/s3cr3t|p\/w|p%2Fw|0123456789abcdef|czNjcjN0/);
      }
    });
  });
});

describe('a source', () => {
  it('is refused without a URL, or with one of another kind, which is not repeated', () => {
    expect(() => sourceOf('bitcoin', [])).toThrow('bitcoin needs the URL of at least one node');
    expect(() => sourceOf('bitcoin', ['s3cr3t'])).toThrow(/^the address of a node must be a URL/);
  });
});

interface Coin {
  readonly txid: string;
  readonly vout: number;
  readonly amount: number;
}

/**
 * Spends the wallet's largest coin to a fresh address, replaceably and unsent; coins that are only in the mempool do
 * not count. The node lists coins in no order, and the change of another test may be less than the fee.
 */
async function spendLargestCoin(
  node: UtxoNode,
  fee: string,
): Promise<{ readonly raw: string; readonly address: string }> {
  const coins = (await node.rpc('listunspent', [1])) as readonly Coin[];
  const [coin] = coins.toSorted((a, b) => b.amount - a.amount || (a.txid < b.txid ? -1 : 1));
  if (coin === undefined) throw new Error('The wallet of the node has no coin.');
  const address = await node.newAddress();
  const input = { txid: coin.txid, vout: coin.vout, sequence: 0 };
  const amount = (coin.amount - Number(fee)).toFixed(8);
  const unsigned = await node.rpc('createrawtransaction', [[input], [{ [address]: amount }]]);
  const { hex } = Object(await node.rpc('signrawtransactionwithwallet', [unsigned]));
  return { raw: String(hex), address };
}
