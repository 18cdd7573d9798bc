import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAnvil, type Anvil } from '../../../test/anvil.ts';
import { contractOf, deployContract, deployToken, type DeployedContract, type TestToken } from '../../../test/erc20.ts';
import { forwardTo, type NodeAnswer, type NodeCall, type TestNode } from '../../../test/rpc-node.ts';
import { blockAt, failureOf } from '../source.fixture.ts';
import { ALICE, BOB, nodeThat, restoreEach, sourceOf, type WatchedSource } from './source.fixture.ts';
import type { EvmSourceOptions } from './source.ts';

/** An ERC-20 transfer of 5 units to Alice, as a node gives its log. */
const TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

let anvil: Anvil;
let usdt: TestToken;
let usdc: TestToken;
let fee: TestToken;
let odd: TestToken;
let many: DeployedContract;
/** The height at which each test begins. */
let base: number;

beforeAll(async () => {
  anvil = await startAnvil({ manualMining: true });
  usdt = await deployToken(anvil, 'no_return');
  usdc = await deployToken(anvil, 'ordinary');
  fee = await deployToken(anvil, 'fee');
  odd = await deployToken(anvil, 'odd');
  many = await deployContract(anvil, contractOf('Tokens.sol', 'OrdinaryToken'), [6]);
  base = Number(await anvil.rpc('eth_blockNumber'));
});
afterAll(() => anvil.stop());

restoreEach(() => anvil);

function tokenSource(urls: readonly string[], options: Partial<EvmSourceOptions> = {}): WatchedSource {
  const tokens = new Map([
    ['USDT', { contract: usdt.address, decimals: 6 }],
    ['USDC', { contract: usdc.address.toUpperCase().replace('0X', '0x'), decimals: 6 }],
  ] as const);
  return sourceOf(urls, { tokens, ...options });
}

/** A node that counts the calls that reach it and may answer some of them itself. */
async function countingNode(
  answer: (call: NodeCall) => NodeAnswer | null = () => null,
): Promise<TestNode & { readonly calls: string[] }> {
  const calls: string[] = [];
  const node = await nodeThat((call) => {
    calls.push(call.method);
    return answer(call) ?? forwardTo(anvil.url, call);
  });
  return { ...node, calls };
}

describe('the token transfers of a block', () => {
  it('are those of the configured contracts, beside the native ones, each under the index of its log', async () => {
    const native = await anvil.transfer(ALICE, 7n);
    const first = await usdt.transfer(ALICE, 1_000_000n);
    await fee.transfer(ALICE, 5n);
    const second = await usdc.transfer(BOB, 3n);
    await anvil.mine(1);

    const source = tokenSource([anvil.url]);
    const block = await blockAt(source, base + 1);
    expect(block.transfers).toEqual([
      { transactionHash: native, index: 0, address: ALICE, asset: 'ETH', amount: 7n },
      { transactionHash: first, index: 0, address: ALICE, asset: 'USDT', amount: 1_000_000n },
      { transactionHash: second, index: 3, address: BOB, asset: 'USDC', amount: 3n },
    ]);
    expect(await source.dropReverted(block, block.transfers)).toEqual(block.transfers);
  });

  it('are seen even if native money is not read', async () => {
    await anvil.transfer(ALICE, 7n);
    await usdc.transfer(BOB, 3n);
    await anvil.mine(1);
    const source = tokenSource([anvil.url], { nativeAsset: null });
    expect(source.native).toBeNull();
    expect((await blockAt(source, base + 1)).transfers).toMatchObject([{ address: BOB, asset: 'USDC', amount: 3n }]);
  });

  it('leave out those of zero, which anyone can log in the name of anyone', async () => {
    await usdt.transfer(ALICE, 0n);
    await usdc.transfer(ALICE, 0n);
    await anvil.mine(1);
    expect((await blockAt(tokenSource([anvil.url]), base + 1)).transfers).toEqual([]);
  });

  it('leave out those of a reverted transaction, and need no receipt', async () => {
    const node = await countingNode();
    await usdc.transfer(ALICE, 10n ** 30n);
    await usdc.transfer(ALICE, 4n);
    await anvil.mine(1);
    const source = tokenSource([node.url]);
    const block = await blockAt(source, base + 1);
    expect(block.transfers).toMatchObject([{ amount: 4n }]);
    expect(await source.dropReverted(block, block.transfers)).toEqual(block.transfers);
    expect(node.calls.filter((method) => method.includes('Receipt'))).toEqual([]);
  });

  it('stay beside a reverted native transfer, which goes', async () => {
    const reverting = '0x00000000000000000000000000000000000000ff';
    await anvil.rpc('anvil_setCode', [reverting, '0x60006000fd']);
    await anvil.transfer(reverting, 7n);
    await usdc.transfer(ALICE, 4n);
    await anvil.mine(1);
    const source = tokenSource([anvil.url]);
    const block = await blockAt(source, base + 1);
    expect(block.transfers).toHaveLength(2);
    expect(await source.dropReverted(block, block.transfers)).toEqual(block.transfers.slice(1));
  });

  it('of a token that keeps a fee are what was logged for the receiver', async () => {
    await fee.transfer(ALICE, 1_000n);
    await anvil.mine(1);
    const tokens = new Map([['USDT', { contract: fee.address, decimals: 6 }]] as const);
    const { transfers } = await blockAt(sourceOf([anvil.url], { tokens }), base + 1);
    expect(transfers.filter(({ address }) => address === ALICE)).toMatchObject([{ amount: 990n }]);
    expect(transfers.reduce((sum, { amount }) => sum + amount, 0n)).toBe(1_000n);
  });

  it('pass over logs of the same event that are not of ERC-20, and keep the one that is', async () => {
    await odd.transfer(ALICE, 9n);
    await anvil.mine(1);
    const tokens = new Map([['USDC', { contract: odd.address, decimals: 6 }]] as const);
    const source = sourceOf([anvil.url], { tokens });
    expect((await blockAt(source, base + 1)).transfers).toMatchObject([{ address: ALICE, amount: 9n, index: 5 }]);
    expect(source.warnings).toEqual([]);
  });

  it('are all there when a block holds hundreds, several of them in one transaction', async () => {
    const receivers = Array.from({ length: 250 }, (_, i) => `0x${(i + 1).toString(16).padStart(40, '0')}`);
    await many.send('transferMany', [receivers, 1_000n], { gas: 12_000_000n });
    await many.send('transferMany', [receivers, 5_000n], { gas: 12_000_000n });
    await anvil.mine(1);
    const tokens = new Map([['USDC', { contract: many.address, decimals: 6 }]] as const);
    const { transfers } = await blockAt(sourceOf([anvil.url], { tokens }), base + 1);
    expect(transfers.map(({ amount }) => amount)).toEqual(
      [1_000n, 5_000n].flatMap((first) => receivers.map((_, i) => first + BigInt(i))),
    );
    expect(new Set(transfers.map(({ index }) => index)).size).toBe(500);
  });
});

describe('several blocks with tokens', () => {
  it('are the same as one by one, in two requests', async () => {
    for (let i = 1n; i <= 6n; i += 1n) {
      await (i === 3n ? fee : usdc).transfer(ALICE, i);
      await anvil.mine(1);
    }
    const requests: (readonly string[])[] = [];
    const node = await nodeThat((call) => forwardTo(anvil.url, call), {
      batch: (calls) => {
        requests.push(calls.map(({ method }) => method));
        return null;
      },
    });
    const source = tokenSource([node.url]);
    const blocks = await source.blocks(base + 1, 6);
    expect(blocks.map(({ transfers }) => transfers.map(({ amount }) => amount))).toEqual([
      [1n],
      [2n],
      [],
      [4n],
      [5n],
      [6n],
    ]);
    expect(requests).toEqual([
      Array.from({ length: 6 }, () => 'eth_getBlockByNumber'),
      Array.from({ length: 5 }, () => 'eth_getLogs'),
    ]);
    const single = tokenSource([anvil.url]);
    for (const block of blocks) expect(await single.block(block.height)).toEqual(block);
  });

  it('end before one that a reorganisation took away while its logs were asked for', async () => {
    for (let i = 1n; i <= 3n; i += 1n) {
      await usdc.transfer(ALICE, i);
      await anvil.mine(1);
    }
    const { hash } = await blockAt(tokenSource([anvil.url]), base + 2);
    const node = await countingNode(({ method, params }) =>
      method === 'eth_getLogs' && JSON.stringify(params).includes(hash)
        ? { error: { code: -32000, message: 'unknown block' } }
        : null,
    );
    const source = tokenSource([node.url]);
    expect((await source.blocks(base + 1, 3)).map(({ height }) => height)).toEqual([base + 1]);
    expect(await source.block(base + 2)).toBeNull();
    expect(source.warnings).toEqual([]);
  });
});

describe('a reorganised token transfer', () => {
  it('is in the new block or not at all', async () => {
    const before = await anvil.rpc('evm_snapshot');
    await usdc.transfer(ALICE, 1n);
    const kept = await usdc.transfer(BOB, 2n);
    const raw = await anvil.rpc('eth_getRawTransactionByHash', [kept]);
    await anvil.mine(1);
    const source = tokenSource([anvil.url]);
    const orphan = await blockAt(source, base + 1);
    expect(orphan.transfers.map(({ amount }) => amount)).toEqual([1n, 2n]);

    await anvil.rpc('evm_revert', [before]);
    await anvil.rpc('anvil_setNonce', ['0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', '0x6']);
    await anvil.rpc('eth_sendRawTransaction', [raw]);
    await anvil.mine(1);
    const replacement = await blockAt(source, base + 1);
    expect(replacement.hash).not.toBe(orphan.hash);
    expect(replacement.transfers).toEqual([
      { transactionHash: kept, index: 0, address: BOB, asset: 'USDC', amount: 2n },
    ]);
  });

  it('is gone from a block that was mined without it', async () => {
    await usdc.transfer(ALICE, 1n);
    await anvil.mine(1);
    const source = tokenSource([anvil.url]);
    const orphan = await blockAt(source, base + 1);
    await anvil.rpc('anvil_reorg', [1, []]);
    const replacement = await blockAt(source, base + 1);
    expect(replacement.hash).not.toBe(orphan.hash);
    expect(replacement.transfers).toEqual([]);
  });
});

describe('a block whose header says that it has no such log', () => {
  it('is not asked for logs', async () => {
    await anvil.transfer(ALICE, 1n);
    await fee.transfer(ALICE, 100n);
    await anvil.mine(1);
    const node = await countingNode();
    const source = tokenSource([node.url]);
    expect((await blockAt(source, base + 1)).transfers).toMatchObject([{ asset: 'ETH' }]);
    expect(node.calls).toEqual(['eth_chainId', 'eth_getBlockByNumber']);
  });

  it.each([
    ['gives an empty filter', 'ethereum', `0x${'0'.repeat(512)}`],
    ['gives none', 'ethereum', null],
    ['gives nonsense', 'ethereum', '0x12'],
    ['is of a network that leaves logs out of it', 'polygon', undefined],
  ] as const)('is asked all the same when the node %s', async (_name, network, logsBloom) => {
    await anvil.transfer(ALICE, 1n);
    await usdc.transfer(ALICE, 5n);
    await anvil.mine(1);
    const node = await nodeThat(async (call) => {
      const answer = await forwardTo(anvil.url, call);
      if (call.method !== 'eth_getBlockByNumber') return answer;
      const { result } = JSON.parse(answer.text ?? '');
      // Without one, as if the only logs were of another contract.
      const other = `0x${'0'.repeat(500)}${'1'.repeat(12)}`;
      return { result: { ...result, logsBloom: logsBloom === undefined ? other : logsBloom } };
    });
    const source = tokenSource([node.url], { network });
    expect((await blockAt(source, base + 1)).transfers).toMatchObject([
      { asset: 'ETH' },
      { asset: 'USDC', amount: 5n },
    ]);
  });

  it('is not asked on a network without tokens', async () => {
    await usdc.transfer(ALICE, 5n);
    await anvil.mine(1);
    const node = await countingNode();
    expect((await blockAt(sourceOf([node.url]), base + 1)).transfers).toEqual([]);
    expect(node.calls).not.toContain('eth_getLogs');
  });
});

describe('a node that takes no block hash for logs', () => {
  const refusal = { error: { code: -32602, message: 'invalid params: unknown field' } };
  const isByHash = ({ params }: NodeCall): boolean => JSON.stringify(params).includes('blockHash');

  it('is asked by height', async () => {
    await usdc.transfer(ALICE, 5n);
    await anvil.mine(1);
    const node = await countingNode((call) => (isByHash(call) ? refusal : null));
    const source = tokenSource([node.url]);
    expect((await source.blocks(base, 2)).map(({ transfers }) => transfers.length)).toEqual([0, 1]);
    expect(source.warnings).toEqual([]);
  });

  it('does not pass for one that has the block when it has another one at that height', async () => {
    await usdc.transfer(ALICE, 5n);
    await anvil.mine(1);
    let isReorganised = false;
    const node = await countingNode((call) => {
      if (isByHash(call)) {
        isReorganised = true;
        return refusal;
      }
      if (!isReorganised) return null;
      return { result: call.method === 'eth_getLogs' ? [] : { hash: `0x${'7'.repeat(64)}` } };
    });
    const source = tokenSource([node.url]);
    expect(await source.block(base + 1)).toBeNull();
  });
});

describe('a node that gives wrong logs', () => {
  const log = {
    topics: [TOPIC, `0x${'0'.repeat(64)}`, `0x${'0'.repeat(24)}${ALICE.slice(2)}`],
    data: `0x${'5'.padStart(64, '0')}`,
    transactionHash: `0x${'2'.repeat(64)}`,
    logIndex: '0x3',
    removed: false,
  };

  async function giving(change: (right: object) => object): Promise<WatchedSource> {
    await usdc.transfer(ALICE, 8n);
    await anvil.mine(1);
    const { hash } = await blockAt(tokenSource([anvil.url]), base + 1);
    const right = { ...log, address: usdc.address, blockHash: hash };
    const node = await countingNode(({ method }) => (method === 'eth_getLogs' ? { result: [change(right)] } : null));
    return tokenSource([node.url, anvil.url]);
  }

  it('is believed while they are right', async () => {
    const source = await giving((right) => right);
    expect((await blockAt(source, base + 1)).transfers).toEqual([
      { transactionHash: log.transactionHash, index: 3, address: ALICE, asset: 'USDC', amount: 5n },
    ]);
  });

  it.each([
    ['of another block', { blockHash: `0x${'1'.repeat(64)}` }],
    ['without a transaction', { transactionHash: null }],
    ['without an index', { logIndex: null }],
    ['without topics', { topics: null }],
    ['without a contract', { address: null }],
  ])('is passed over for the next one: %s', async (_name, change) => {
    const source = await giving((right) => ({ ...right, ...change }));
    expect((await blockAt(source, base + 1)).transfers).toMatchObject([{ amount: 8n }]);
    expect(source.warnings).toEqual([expect.objectContaining({ method: 'eth_getLogs' })]);
  });

  it.each([
    ['taken back', { removed: true }],
    ['of a contract that was not asked for', { address: `0x${'3'.repeat(40)}` }],
    ['of another event', { topics: [`0x${'4'.repeat(64)}`, ...log.topics.slice(1)] }],
  ])('counts nothing that is %s', async (_name, change) => {
    const source = await giving((right) => ({ ...right, ...change }));
    expect((await blockAt(source, base + 1)).transfers).toEqual([]);
  });

  it('names no credentials when all of them fail', async () => {
    await usdc.transfer(ALICE, 8n);
    await anvil.mine(1);
    const node = await countingNode((call) =>
      call.method === 'eth_getLogs' ? { error: { code: -32000, message: `quota of ${call.path}` } } : null,
    );
    const source = tokenSource([`${node.url}/v3/0123456789abcdef`]);
    const fault = await failureOf(source.block(base + 1));
    expect(fault.message).toContain('quota of ***');
    expect(`${fault.stack} ${JSON.stringify(source.warnings)}`).not.toContain('0123456789abcdef');
  });
});
