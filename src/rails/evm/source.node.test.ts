import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ANVIL_ACCOUNT, startAnvil, type Anvil } from '../../../test/anvil.ts';
import { forwardTo } from '../../../test/rpc-node.ts';
import { blockAt, deadUrl, failureOf } from '../source.fixture.ts';
import { ALICE, BOB, nodeThat, sourceOf } from './source.fixture.ts';

const REVERTING = '0x00000000000000000000000000000000000000ff';

let anvil: Anvil;
let emptyChain: unknown;

beforeAll(async () => {
  anvil = await startAnvil({ manualMining: true });
  // Code that reverts whatever is sent: PUSH1 0 PUSH1 0 REVERT.
  await anvil.rpc('anvil_setCode', [REVERTING, '0x60006000fd']);
});
afterAll(() => anvil.stop());

beforeEach(async () => {
  emptyChain = await anvil.rpc('evm_snapshot');
});
afterEach(async () => {
  await anvil.rpc('anvil_dropAllTransactions');
  await anvil.rpc('evm_revert', [emptyChain]);
});

describe('a block of an EVM chain', () => {
  it('shows its native transfers, and nothing for contract creations and transactions without value', async () => {
    const source = sourceOf([anvil.url]);
    const parent = await blockAt(source, 0);
    const first = await anvil.transfer(ALICE, 10n ** 18n);
    const second = await anvil.transfer(BOB, 1n);
    await anvil.transfer(BOB, 0n);
    await anvil.rpc('eth_sendTransaction', [{ from: BOB, value: '0x5', data: '0x00', gas: '0x186a0' }]);
    await anvil.rpc('evm_setNextBlockTimestamp', [1_900_000_000]);
    await anvil.mine(1);

    const block = await blockAt(source, 1);
    expect(block).toEqual({
      height: 1,
      hash: (await source.head()).hash,
      parentHash: parent.hash,
      timeMs: 1_900_000_000_000,
      transfers: [
        { transactionHash: first, index: 0, address: ALICE, asset: 'ETH', amount: 10n ** 18n },
        { transactionHash: second, index: 0, address: BOB, asset: 'ETH', amount: 1n },
      ],
      takers: {
        flushed: [],
        senders: [ANVIL_ACCOUNT.toLowerCase(), BOB],
        sweeps: [],
      },
    });
    expect(await source.dropReverted(block, block.transfers)).toEqual(block.transfers);
    expect(await source.dropReverted(block, [])).toEqual([]);
    expect((await source.head()).height).toBe(1);
  });

  it('is null above the head', async () => {
    expect(await sourceOf([anvil.url]).block(1)).toBeNull();
  });

  it('has the same hash and time when only its header is asked for', async () => {
    const source = sourceOf([anvil.url]);
    await anvil.mine(1);
    const { height, hash, timeMs } = await blockAt(source, 1);
    expect(await source.header(1)).toEqual({ height, hash, timeMs });
    expect(await source.hashAt(1)).toBe(hash);
    expect([await source.header(2), await source.hashAt(2)]).toEqual([null, null]);
  });

  it.each([1, 8])('loses its reverted transactions, next to %i that succeeded', async (count) => {
    const source = sourceOf([anvil.url]);
    const reverted = await anvil.transfer(REVERTING, 7n);
    for (let i = 1; i <= count; i += 1) await anvil.transfer(ALICE, BigInt(i));
    await anvil.mine(1);

    const block = await blockAt(source, 1);
    expect(block.transfers.map((transfer) => transfer.transactionHash)).toContain(reverted);
    const moved = await source.dropReverted(block, block.transfers);
    expect(moved).toEqual(block.transfers.filter((transfer) => transfer.transactionHash !== reverted));
    expect(moved).toHaveLength(count);
  });

  it('loses the same on a node that does not offer receipts by the block, and asks for them only once', async () => {
    const calls: string[] = [];
    const node = await nodeThat((call) => {
      calls.push(call.method);
      if (call.method === 'eth_getBlockReceipts') return { error: { code: -32601, message: 'no such method' } };
      return forwardTo(anvil.url, call);
    });
    const source = sourceOf([node.url]);
    await anvil.transfer(REVERTING, 7n);
    for (let i = 1; i <= 40; i += 1) await anvil.transfer(ALICE, BigInt(i));
    await anvil.mine(1);

    const block = await blockAt(source, 1);
    for (let i = 0; i < 2; i += 1) {
      const moved = await source.dropReverted(block, block.transfers);
      expect(moved?.map((transfer) => transfer.amount)).toEqual(Array.from({ length: 40 }, (_, n) => BigInt(n + 1)));
    }
    expect(calls.filter((method) => method === 'eth_getBlockReceipts')).toHaveLength(1);
    expect(source.warnings).toEqual([]);
  });

  it.each([1, 8])(
    'of %i transfers that a reorganisation removed is seen by its parent hash and gives null',
    async (count) => {
      const source = sourceOf([anvil.url]);
      await anvil.mine(1);
      for (let i = 1; i <= count; i += 1) await anvil.transfer(ALICE, BigInt(i));
      await anvil.mine(1);
      const orphan = await blockAt(source, 2);
      expect(orphan.transfers).toHaveLength(count);

      await anvil.rpc('anvil_reorg', [1, []]);
      await anvil.mine(1);
      const replacement = await blockAt(source, 2);
      expect(replacement.hash).not.toBe(orphan.hash);
      expect(replacement.parentHash).toBe(orphan.parentHash);
      const next = await blockAt(source, 3);
      expect(next.parentHash).toBe(replacement.hash);
      expect(await source.dropReverted(orphan, orphan.transfers)).toBeNull();
    },
  );

  it('gives null when its transactions were mined again in another block', async () => {
    const source = sourceOf([anvil.url]);
    const beforeTransfer = await anvil.rpc('evm_snapshot');
    const hash = await anvil.transfer(ALICE, 5n);
    const raw = await anvil.rpc('eth_getRawTransactionByHash', [hash]);
    await anvil.mine(1);
    const orphan = await blockAt(source, 1);
    await anvil.rpc('evm_revert', [beforeTransfer]);
    await anvil.mine(1);
    expect(await anvil.rpc('eth_sendRawTransaction', [raw])).toBe(hash);
    await anvil.mine(1);

    expect(await source.dropReverted(orphan, orphan.transfers)).toBeNull();
    const again = await blockAt(source, 2);
    expect(await source.dropReverted(again, again.transfers)).toHaveLength(1);
  });
});

describe('several blocks at once', () => {
  it('come in order, end at the head, and are the same as one by one', async () => {
    const source = sourceOf([anvil.url]);
    for (let i = 1; i <= 5; i += 1) {
      await anvil.transfer(ALICE, BigInt(i));
      await anvil.mine(1);
    }
    const single = [];
    for (let height = 2; height <= 5; height += 1) single.push(await blockAt(source, height));
    expect(await source.blocks(2, 4)).toEqual(single);
    expect(await source.blocks(2, 2)).toEqual(single.slice(0, 2));
    expect(await source.blocks(2, 150)).toEqual(single);
    expect(single.map((block) => block.transfers[0]?.amount)).toEqual([2n, 3n, 4n, 5n]);
    expect(await source.blocks(6, 3)).toEqual([]);
    expect(await source.blocks(2, 0)).toEqual([]);
  });

  it('end where one does not follow the one before it', async () => {
    await anvil.mine(4);
    const [, other] = await sourceOf([anvil.url]).blocks(2, 2);
    const reorganised = await nodeThat(async (call) => {
      const answer = await forwardTo(anvil.url, call);
      const isThird = JSON.stringify(call.params).startsWith('["0x3"');
      return isThird ? { text: answer.text?.replaceAll(other?.parentHash ?? '', `0x${'7'.repeat(64)}`) ?? '' } : answer;
    });
    const source = sourceOf([reorganised.url]);
    expect((await source.blocks(1, 4)).map(({ height }) => height)).toEqual([1, 2]);
    expect((await source.blocks(3, 4)).map(({ height }) => height)).toEqual([3, 4]);
  });

  it('end before one that the node had no room for, and begin with it the next time', async () => {
    await anvil.mine(4);
    const small = await nodeThat((call) =>
      JSON.stringify(call.params).startsWith('["0x3"') && call.method === 'eth_getBlockByNumber' && busy
        ? { error: { code: -32003, message: 'response too large' } }
        : forwardTo(anvil.url, call),
    );
    let busy = true;
    const source = sourceOf([small.url]);
    expect((await source.blocks(1, 4)).map(({ height }) => height)).toEqual([1, 2]);
    expect((await failureOf(source.blocks(3, 4))).message).toContain('response too large');
    busy = false;
    expect((await source.blocks(3, 4)).map(({ height }) => height)).toEqual([3, 4]);
  });
});

describe('a transaction of a kind that only a rollup has', () => {
  const hash = `0x${'1'.repeat(64)}`;
  async function transfersOf(transaction: unknown): Promise<unknown> {
    const block = { number: '0x1', hash, parentHash: hash, timestamp: '0x1', transactions: [transaction] };
    const node = await nodeThat(({ method }) => ({ result: method === 'eth_chainId' ? '0x7a69' : block }));
    return (await blockAt(sourceOf([node.url]), 1)).transfers;
  }

  it.each([
    ['without a value', { type: '0x6a', hash, to: ALICE }],
    ['with a null value', { type: '0x7e', hash, to: ALICE, value: null }],
    ['with an empty value', { type: '0x7e', hash, to: ALICE, value: '0x' }],
    ['of a form not heard of', { type: 'deposit', to: ALICE }],
  ])('is no transfer %s', async (_name, transaction) => {
    expect(await transfersOf(transaction)).toEqual([]);
  });

  it('is a transfer like any other when it carries money, as a deposit from the chain below does', async () => {
    expect(await transfersOf({ type: '0x7e', hash, to: ALICE, value: '0x5', mint: '0x5' })).toEqual([
      { transactionHash: hash, index: 0, address: ALICE, asset: 'ETH', amount: 5n },
    ]);
  });

  it.each([{ type: '0x2' }, {}])(
    'is told from an ordinary one without value, which is the fault of the node',
    async (kind) => {
      expect((await failureOf(transfersOf({ ...kind, hash, to: ALICE }))).message).toContain('transaction.value');
    },
  );
});

describe('a node on another chain', () => {
  it('is named with the way out, and never used', async () => {
    const source = sourceOf([anvil.url], { chainId: 1 });
    const problem = expect.stringMatching(
      /is on chain 31337.*expected to be chain 1.*ETHEREUM_RPC_URL.*ETHEREUM_CHAIN_ID/,
    );
    expect(await source.checkNodes()).toEqual([{ node: anvil.url, height: null, problem }]);
    expect((await failureOf(source.head())).failures).toEqual([{ node: anvil.url, reason: problem }]);
  });

  it('is named with the settings of its own network', async () => {
    const [report] = await sourceOf([anvil.url], { network: 'arbitrum', chainId: 42_161 }).checkNodes();
    expect(report?.problem).toContain('arbitrum is expected to be chain 42161. Set ARBITRUM_RPC_URL');
  });

  it('is passed over for one on the right chain, and still reported', async () => {
    const stranger = await nodeThat(({ method }) =>
      method === 'eth_chainId' ? { result: '0x1' } : { error: { code: 1, message: 'was asked' } },
    );
    const source = sourceOf([stranger.url, anvil.url]);
    expect((await source.head()).height).toBe(0);
    expect(await source.checkNodes()).toEqual([
      { node: stranger.url, height: null, problem: expect.stringContaining('is on chain 1') },
      { node: anvil.url, height: 0, problem: null },
    ]);
    expect(JSON.stringify(source.warnings)).not.toContain('was asked');
  });

  it('is noticed when it takes the place of the right one', async () => {
    let chainId = '0x7a69';
    const node = await nodeThat((call) =>
      call.method === 'eth_chainId' ? { result: chainId } : forwardTo(anvil.url, call),
    );
    const source = sourceOf([node.url]);
    expect(await source.checkNodes()).toEqual([{ node: node.url, height: 0, problem: null }]);
    expect((await source.head()).height).toBe(0);
    chainId = '0x1';
    expect((await source.checkNodes())[0]?.problem).toContain('is on chain 1');
    await failureOf(source.head());
  });
});

describe('several nodes', () => {
  it('stand in for one that is down, and the one that answers is asked first from then on', async () => {
    const dead = await deadUrl();
    const source = sourceOf([dead, anvil.url]);
    expect((await source.head()).height).toBe(0);
    expect(source.warnings).toHaveLength(1);
    await source.head();
    expect(source.warnings).toHaveLength(1);
    expect(await source.checkNodes()).toEqual([
      { node: dead, height: null, problem: expect.stringContaining('ECONNREFUSED') },
      { node: anvil.url, height: 0, problem: null },
    ]);
    expect(await source.block(0)).toMatchObject({ height: 0, transfers: [] });
  });

  it('put one that lags last, until it has caught up', async () => {
    await anvil.mine(10);
    let height = 4;
    const late = await nodeThat((call) => {
      if (call.method === 'eth_blockNumber') return { result: `0x${height.toString(16)}` };
      return call.method === 'eth_chainId' ? { result: '0x7a69' } : { error: { code: 1, message: 'the late one' } };
    });
    const source = sourceOf([late.url, anvil.url]);
    expect(await source.checkNodes()).toEqual([
      { node: late.url, height: 4, problem: 'it lags 6 blocks behind the best node' },
      { node: anvil.url, height: 10, problem: null },
    ]);
    expect((await source.head()).height).toBe(10);
    expect(source.warnings).toEqual([expect.objectContaining({ problem: 'it lags 6 blocks behind the best node' })]);

    height = 5;
    expect((await source.checkNodes())[0]).toEqual({ node: late.url, height: 5, problem: null });
    const alone = sourceOf([late.url]);
    await alone.checkNodes();
    expect((await failureOf(alone.head())).message).toContain('the late one');
  });

  it('may be further apart on a chain with more blocks a minute', async () => {
    await anvil.mine(10);
    const late = await nodeThat((call) =>
      call.method === 'eth_blockNumber' ? { result: '0x1' } : forwardTo(anvil.url, call),
    );
    const reports = await sourceOf([late.url, anvil.url], { network: 'arbitrum' }).checkNodes();
    expect(reports.map(({ problem }) => problem)).toEqual([null, null]);
  });

  const head = { number: '0x0', hash: `0x${'1'.repeat(64)}` };
  it.each([
    ['a hash cut short', { result: { ...head, hash: '0x12' } }],
    ['a height that is no number', { result: { ...head, number: 'latest' } }],
    ['nothing', {}],
    ['an array', { result: [] }],
    ['an error', { error: { code: -32000, message: 'header not found' } }],
    ['an empty error', { error: {} }],
    ['an internal server error', { status: 500 }],
    ['a page instead of JSON', { text: '<html>busy</html>' }],
    ['null instead of JSON-RPC', { text: 'null' }],
  ])('stand in for one that answers with %s', async (_name, answer) => {
    const broken = await nodeThat((call) => (call.method === 'eth_chainId' ? { result: '0x7a69' } : answer));
    const source = sourceOf([broken.url, anvil.url]);
    expect((await source.head()).hash).not.toBe(head.hash);
    expect(source.warnings).toEqual([expect.objectContaining({ node: broken.url, method: 'eth_getBlockByNumber' })]);
    expect(await source.blocks(0, 2)).toMatchObject([{ height: 0 }]);
  });

  it('stand in for one that gives another block than the one asked for', async () => {
    await anvil.mine(1);
    const confused = await nodeThat((call) =>
      forwardTo(anvil.url, call.method === 'eth_chainId' ? call : { ...call, params: ['0x1', true] }),
    );
    const source = sourceOf([confused.url, anvil.url]);
    expect(await source.block(0)).toMatchObject({ height: 0 });
    expect(source.warnings).toHaveLength(1);
  });

  it.each(['before', 'within'])('stand in for one that stalls %s its answer', async (when) => {
    const stalled = await nodeThat((call) =>
      call.method === 'eth_chainId'
        ? { result: '0x7a69' }
        : { text: when === 'within' ? '{"jsonrpc":' : '', stall: true },
    );
    const source = sourceOf([stalled.url, anvil.url], { timeoutMs: 200 });
    expect((await source.head()).height).toBe(0);
    expect(source.warnings).toEqual([expect.objectContaining({ problem: 'no complete answer within 200 ms' })]);
  });
});

describe('credentials in the URL of a node', () => {
  it('are sent to the node', async () => {
    const node = await nodeThat((call) => {
      const expected = `Basic ${Buffer.from('user:pa:ss').toString('base64')}`;
      return call.authorization === expected && call.path === '/v3/key?token=t'
        ? forwardTo(anvil.url, call)
        : { status: 401 };
    });
    const url = node.url.replace('http://', 'http://user:pa%3Ass@');
    expect((await sourceOf([`${url}/v3/key?token=t`]).head()).height).toBe(0);
  });

  it('are in no part of an error or a log line, whether the node is down or repeats them', async () => {
    const echo = await nodeThat((call) => ({
      error: { code: -32000, message: `bad key in ${call.path} of ${call.authorization ?? ''} s3cr3t:p/w` },
    }));
    const down = await deadUrl();
    for (const url of [down, echo.url]) {
      const withSecrets = `${url.replace('http://', 'http://s3cr3t:s3cr3t%3Ap%2Fw@')}/v3/0123456789abcdef?apikey=fedcba98`;
      const source = sourceOf([withSecrets]);
      const fault = await failureOf(source.head());
      expect(fault.network).toBe('ethereum');
      expect(fault.failures).toEqual([
        { node: url, reason: expect.stringMatching(/ECONNREFUSED|JSON-RPC error -32000: bad key/) },
      ]);
      const shown = `${fault.stack} ${String(fault.cause)} ${JSON.stringify(fault)} ${JSON.stringify(source.warnings)}`;
      expect(`${shown} ${JSON.stringify(await source.checkNodes())}`).not.toMatch(
        /s3cr3t|p\/w|p%2Fw|0123456789abcdef|fedcba98|czNjcjN0/,
      );
      expect(source.warnings.length).toBeGreaterThan(0);
    }
  });

  it('are not repeated when the URL itself is refused', () => {
    expect(() => sourceOf(['wss://user:s3cr3t@node'])).toThrow(/^the address of a node must be a URL/);
    expect(() => sourceOf(['s3cr3t'])).toThrow(/^the address of a node must be a URL/);
    expect(() => sourceOf([])).toThrow(/^ethereum needs the URL of at least one node/);
  });
});
