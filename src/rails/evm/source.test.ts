import { execFileSync } from 'node:child_process';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startAnvil, type Anvil } from '../../../test/anvil.ts';
import { ChainUnavailableError, type ChainBlock, type ChainSource } from '../chain.ts';
import { createEvmSource } from './source.ts';
import { forwardTo, startNode, type TestNode } from '../../../test/rpc-node.ts';

const ALICE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const BOB = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const REVERTING = '0x00000000000000000000000000000000000000ff';
const CHAIN_ID = 31_337;

let anvil: Anvil;
let emptyChain: unknown;
let warnings: unknown[];
const nodes: TestNode[] = [];

beforeAll(async () => {
  anvil = await startAnvil({ manualMining: true });
  // Code that reverts whatever is sent: PUSH1 0 PUSH1 0 REVERT.
  await anvil.rpc('anvil_setCode', [REVERTING, '0x60006000fd']);
});
afterAll(() => anvil.stop());

beforeEach(async () => {
  warnings = [];
  emptyChain = await anvil.rpc('evm_snapshot');
});
afterEach(async () => {
  await anvil.rpc('anvil_dropAllTransactions');
  await anvil.rpc('evm_revert', [emptyChain]);
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});

function sourceOf(urls: readonly string[], chainId: number | undefined = CHAIN_ID, timeoutMs = 5_000): ChainSource {
  const log = { warn: (fields: unknown) => void warnings.push(fields) };
  return createEvmSource({ network: 'ethereum', asset: 'ETH', urls, chainId, timeoutMs, log });
}

async function nodeThat(answer: Parameters<typeof startNode>[0]): Promise<TestNode> {
  const node = await startNode(answer);
  nodes.push(node);
  return node;
}

/** A port where nobody listens: one that was just given back. */
async function deadUrl(): Promise<string> {
  const node = await startNode(() => ({ result: null }));
  await node.stop();
  return node.url;
}

async function blockAt(source: ChainSource, height: number): Promise<ChainBlock> {
  const block = await source.block(height);
  if (!block) throw new Error(`the node has no block ${height}`);
  return block;
}

async function failureOf(promise: Promise<unknown>): Promise<ChainUnavailableError> {
  const outcome: unknown = await promise.catch((fault: unknown) => fault);
  if (!(outcome instanceof ChainUnavailableError))
    throw new Error('expected ChainUnavailableError', { cause: outcome });
  return outcome;
}

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
        { transactionHash: first, index: 0, address: ALICE.toLowerCase(), asset: 'ETH', amount: 10n ** 18n },
        { transactionHash: second, index: 0, address: BOB.toLowerCase(), asset: 'ETH', amount: 1n },
      ],
    });
    expect(await source.settle(block, block.transfers)).toEqual(block.transfers);
    expect(await source.settle(block, [])).toEqual([]);
    expect((await source.head()).height).toBe(1);
  });

  it('is null above the head', async () => {
    expect(await sourceOf([anvil.url]).block(1)).toBeNull();
  });

  it.each([1, 8])('loses its reverted transactions when settled, next to %i that succeeded', async (count) => {
    const source = sourceOf([anvil.url]);
    const reverted = await anvil.transfer(REVERTING, 7n);
    for (let i = 1; i <= count; i += 1) await anvil.transfer(ALICE, BigInt(i));
    await anvil.mine(1);

    const block = await blockAt(source, 1);
    expect(block.transfers.map((transfer) => transfer.transactionHash)).toContain(reverted);
    const settled = await source.settle(block, block.transfers);
    expect(settled).toEqual(block.transfers.filter((transfer) => transfer.transactionHash !== reverted));
    expect(settled).toHaveLength(count);
  });

  it('settles the same on a node that does not offer receipts by the block, and asks for them only once', async () => {
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
      const settled = await source.settle(block, block.transfers);
      expect(settled?.map((transfer) => transfer.amount)).toEqual(Array.from({ length: 40 }, (_, n) => BigInt(n + 1)));
    }
    expect(calls.filter((method) => method === 'eth_getBlockReceipts')).toHaveLength(1);
    expect(warnings).toEqual([]);
  });

  it.each([1, 8])(
    'of %i transfers that a reorganisation removed is seen by its parent hash and does not settle',
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
      expect(await source.settle(orphan, orphan.transfers)).toBeNull();
    },
  );

  it('does not settle when its transactions were mined again in another block', async () => {
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

    expect(await source.settle(orphan, orphan.transfers)).toBeNull();
    const again = await blockAt(source, 2);
    expect(await source.settle(again, again.transfers)).toHaveLength(1);
  });
});

describe('a node on another chain', () => {
  it('is named with the way out, and never used', async () => {
    const source = sourceOf([anvil.url], 1);
    const identity = await source.checkIdentity();
    expect(identity).toMatchObject({
      kind: 'wrong',
      message: expect.stringContaining(`${anvil.url} is on chain 31337`),
    });
    expect(identity).toMatchObject({ message: expect.stringContaining('ETHEREUM_CHAIN_ID') });
    expect((await failureOf(source.head())).message).toContain('expected to be chain 1');
  });

  it('is passed over for one on the right chain, and still reported', async () => {
    const stranger = await nodeThat(({ method }) =>
      method === 'eth_chainId' ? { result: '0x1' } : { error: { code: 1, message: 'was asked' } },
    );
    const source = sourceOf([stranger.url, anvil.url]);
    expect((await source.head()).height).toBe(0);
    expect((await source.checkIdentity()).kind).toBe('wrong');
  });

  it('is noticed when it takes the place of the right one', async () => {
    let chainId = '0x7a69';
    const node = await nodeThat((call) =>
      call.method === 'eth_chainId' ? { result: chainId } : forwardTo(anvil.url, call),
    );
    const source = sourceOf([node.url]);
    expect(await source.checkIdentity()).toEqual({ kind: 'ok' });
    expect((await source.head()).height).toBe(0);
    chainId = '0x1';
    expect((await source.checkIdentity()).kind).toBe('wrong');
    await failureOf(source.head());
  });

  it('is one that differs from the first to answer, when no chain is given', async () => {
    const other = await nodeThat(() => ({ result: '0x1' }));
    const source = createEvmSource({
      network: 'ethereum',
      asset: 'ETH',
      urls: [anvil.url, other.url],
      timeoutMs: 5_000,
      log: { warn: () => undefined },
    });
    expect(await source.checkIdentity()).toMatchObject({ kind: 'wrong', message: expect.stringContaining(other.url) });
  });
});

describe('several nodes', () => {
  it('stand in for one that is down, and the one that answers is asked first from then on', async () => {
    const source = sourceOf([await deadUrl(), anvil.url]);
    expect((await source.head()).height).toBe(0);
    expect(warnings).toHaveLength(1);
    await source.head();
    expect(await source.checkIdentity()).toEqual({ kind: 'ok' });
    expect(await source.block(0)).toMatchObject({ height: 0, transfers: [] });
    expect(warnings).toHaveLength(2);
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
    expect((await sourceOf([broken.url, anvil.url]).head()).hash).not.toBe(head.hash);
    expect(warnings).toEqual([expect.objectContaining({ node: broken.url, method: 'eth_getBlockByNumber' })]);
  });

  it('stand in for one that gives another block than the one asked for', async () => {
    await anvil.mine(1);
    const confused = await nodeThat((call) =>
      forwardTo(anvil.url, call.method === 'eth_chainId' ? call : { ...call, params: ['0x1', true] }),
    );
    expect(await sourceOf([confused.url, anvil.url]).block(0)).toMatchObject({ height: 0 });
    expect(warnings).toHaveLength(1);
  });

  it.each(['before', 'within'])('stand in for one that stalls %s its answer', async (when) => {
    const stalled = await nodeThat((call) =>
      call.method === 'eth_chainId'
        ? { result: '0x7a69' }
        : { text: when === 'within' ? '{"jsonrpc":' : '', stall: true },
    );
    expect((await sourceOf([stalled.url, anvil.url], CHAIN_ID, 200).head()).height).toBe(0);
    expect(warnings).toEqual([expect.objectContaining({ reason: 'no complete answer within 200 ms' })]);
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
      const fault = await failureOf(sourceOf([withSecrets]).head());
      expect(fault.network).toBe('ethereum');
      expect(fault.failures).toEqual([
        { node: url, reason: expect.stringMatching(/ECONNREFUSED|JSON-RPC error -32000: bad key/) },
      ]);
      const shown = `${fault.stack} ${String(fault.cause)} ${JSON.stringify(fault)} ${JSON.stringify(warnings)}`;
      expect(shown).not.toMatch(/s3cr3t|p\/w|p%2Fw|0123456789abcdef|fedcba98|czNjcjN0/);
    }
    expect(warnings).toHaveLength(2);
  });

  it('are not repeated when the URL itself is refused', () => {
    expect(() => sourceOf(['wss://user:s3cr3t@node'])).toThrow(/^the address of a node must be a URL/);
    expect(() => sourceOf(['s3cr3t'])).toThrow(/^the address of a node must be a URL/);
    expect(() => sourceOf([])).toThrow(/^ethereum needs the URL of at least one node/);
  });
});

it('a process that asks no node never loads viem', () => {
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ resolve: (name, context, next) => { loaded.push(name); return next(name, context); } });
    const { createEvmSource } = await import(${JSON.stringify(new URL('source.ts', import.meta.url).href)});
    const source = createEvmSource({ network: 'ethereum', asset: 'ETH', urls: ['http://127.0.0.1:1'], timeoutMs: 1, log: { warn() {} } });
    const before = loaded.includes('viem');
    await source.head().catch(() => {});
    console.log(JSON.stringify({ before, after: loaded.includes('viem') }));`;
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  expect(JSON.parse(output)).toEqual({ before: false, after: true });
});
