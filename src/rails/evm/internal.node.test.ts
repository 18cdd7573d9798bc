import { getAddress, getContractAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startAnvil, type Anvil } from '../../../test/anvil.ts';
import { contractOf, deployContract, type DeployedContract } from '../../../test/erc20.ts';
import { forwardTo, type NodeCall } from '../../../test/rpc-node.ts';
import type { BlockId, NativeBalances } from '../chain.ts';
import { MULTICALL_ADDRESS } from './multicall.ts';
import { blockAt, deadUrl, failureOf } from '../source.fixture.ts';
import { ALICE, BOB, nodeThat, restoreEach, sourceOf, type WatchedSource } from './source.fixture.ts';

/** Addresses that nobody else pays. */
const FIRST = `0x${'a1'.repeat(20)}`;
const SECOND = `0x${'b2'.repeat(20)}`;
const EVERYBODY: ReadonlySet<string> = new Set([FIRST, SECOND]);

let anvil: Anvil;
let payer: DeployedContract;
let other: DeployedContract;

beforeAll(async () => {
  anvil = await startAnvil({ manualMining: true });
  const contract = contractOf('Payers.sol', 'Payer');
  payer = await deployContract(anvil, contract);
  other = await deployContract(anvil, contract);
});
afterAll(() => anvil.stop());

restoreEach(() => anvil);

function nativeOf(source: WatchedSource): NativeBalances {
  if (!source.native) throw new Error('the source has no native asset');
  return source.native;
}

async function minedBlock(): Promise<BlockId> {
  await anvil.mine(1);
  return sourceOf([anvil.url]).head();
}

/** A node without some methods. */
async function nodeWithout(
  ...methods: readonly string[]
): Promise<{ readonly url: string; readonly calls: NodeCall[] }> {
  const calls: NodeCall[] = [];
  const { url } = await nodeThat((call) => {
    calls.push(call);
    return methods.includes(call.method)
      ? { error: { code: -32601, message: `the method ${call.method} does not exist/is not available` } }
      : forwardTo(anvil.url, call);
  });
  return { url, calls };
}

describe.each([
  ['debug_traceBlockByHash', []],
  ['trace_block', ['debug_traceBlockByHash']],
])('what contracts pay within transactions, by %s', (_method, missing) => {
  async function internalTransfers(addresses: ReadonlySet<string> = EVERYBODY): Promise<unknown> {
    const block = await minedBlock();
    const node = await nodeWithout(...missing);
    const transfers = await nativeOf(sourceOf([node.url])).internalTransfers(block, addresses);
    return transfers?.map(({ transactionHash, index, address, asset, amount }) => [
      transactionHash,
      index,
      address,
      asset,
      amount,
    ]);
  }

  it('is found however deep it lies, and what the transaction itself carries is not', async () => {
    await anvil.transfer(FIRST, 3n);
    const direct = await payer.send('pay', [FIRST], { valueWei: 5n });
    const deep = await payer.send('payThrough', [other.address, SECOND], { valueWei: 7n });
    expect(await internalTransfers()).toEqual([
      [direct, 1_000_000, FIRST, 'ETH', 5n],
      [deep, 1_000_001, SECOND, 'ETH', 7n],
    ]);
  });

  it('has the same index whichever addresses are searched for', async () => {
    const before = await anvil.rpc('evm_snapshot');
    const hash = await payer.send('payMany', [[FIRST, ALICE, SECOND, BOB, FIRST], 10n], { valueWei: 100n });
    const first = [hash, 1_000_000, FIRST, 'ETH', 10n];
    const second = [hash, 1_000_002, SECOND, 'ETH', 12n];
    const third = [hash, 1_000_004, FIRST, 'ETH', 14n];
    expect(await internalTransfers()).toEqual([first, second, third]);
    await anvil.rpc('evm_revert', [before]);
    await payer.send('payMany', [[FIRST, ALICE, SECOND, BOB, FIRST], 10n], { valueWei: 100n });
    expect(await internalTransfers(new Set([SECOND]))).toEqual([[expect.any(String), ...second.slice(1)]]);
  });

  it('leaves out what a revert took back, within the transaction or with all of it', async () => {
    const half = await payer.send('payAndUndo', [FIRST], { valueWei: 3n });
    await payer.send('payAndFail', [SECOND], { valueWei: 3n });
    expect(await internalTransfers()).toEqual([[half, 1_000_000, FIRST, 'ETH', 1n]]);
    const balances = await nativeOf(sourceOf([anvil.url])).balancesAt(
      [FIRST, SECOND],
      await sourceOf([anvil.url]).head(),
    );
    expect([...balances.values()]).toEqual([1n, 0n]);
  });

  it('counts what a contract leaves when it destroys itself', async () => {
    const hash = await payer.send('payByDestruction', [FIRST], { valueWei: 9n });
    expect(await internalTransfers()).toEqual([[hash, expect.any(Number), FIRST, 'ETH', 9n]]);
  });

  it('counts the money that a contract is made with', async () => {
    const hash = await payer.send('payNewContract', [], { valueWei: 9n });
    // The first contract that a contract makes (EIP-161).
    const made = getContractAddress({ from: getAddress(payer.address), nonce: 1n }).toLowerCase();
    expect(await internalTransfers(new Set([made]))).toEqual([[hash, 1_000_000, made, 'ETH', 9n]]);
  });

  it('counts once what is paid by borrowed code', async () => {
    const hash = await payer.send('payByDelegate', [other.address, FIRST], { valueWei: 4n });
    expect(await internalTransfers(new Set([FIRST, other.address, payer.address]))).toEqual([
      [hash, 1_000_000, FIRST, 'ETH', 4n],
    ]);
  });

  it('is nothing in a block without', async () => {
    await anvil.transfer(FIRST, 3n);
    expect(await internalTransfers()).toEqual([]);
  });
});

describe('internal transfers', () => {
  it('are not known where no node traces, which each is asked once a minute', async () => {
    const monotonic = vi.spyOn(performance, 'now');
    onTestFinished(() => monotonic.mockRestore());
    const node = await nodeWithout('debug_traceBlockByHash', 'trace_block');
    const native = nativeOf(sourceOf([node.url]));
    await payer.send('pay', [FIRST], { valueWei: 5n });
    const block = await minedBlock();
    expect(await native.internalTransfers(block, EVERYBODY)).toBeNull();
    expect(await native.internalTransfers(block, EVERYBODY)).toBeNull();
    const asked = (): number => node.calls.filter(({ method }) => method.includes('trace')).length;
    expect(asked()).toBe(2);
    monotonic.mockReturnValue(performance.now() + 60_000);
    expect(await native.internalTransfers(block, EVERYBODY)).toBeNull();
    expect(asked()).toBe(4);
  });

  it('are shown by another node where the first one does not trace', async () => {
    const node = await nodeWithout('debug_traceBlockByHash', 'trace_block');
    await payer.send('pay', [FIRST], { valueWei: 5n });
    const block = await minedBlock();
    const native = nativeOf(sourceOf([node.url, anvil.url]));
    expect(await native.internalTransfers(block, EVERYBODY)).toMatchObject([{ address: FIRST, amount: 5n }]);
  });

  it('are not known while nodes are down or refuse, and asked for again', async () => {
    let isWell = false;
    const node = await nodeThat((call) =>
      isWell || call.method === 'eth_chainId'
        ? forwardTo(anvil.url, call)
        : { error: { code: -32000, message: 'not on your plan' } },
    );
    const source = sourceOf([node.url]);
    await payer.send('pay', [FIRST], { valueWei: 5n });
    const block = await minedBlock();
    expect(await nativeOf(source).internalTransfers(block, EVERYBODY)).toBeNull();
    isWell = true;
    expect(await nativeOf(source).internalTransfers(block, EVERYBODY)).toHaveLength(1);
    expect(await nativeOf(sourceOf([await deadUrl()])).internalTransfers(block, EVERYBODY)).toBeNull();
  });

  it('are asked for again of a node that took too long, three times in all', async () => {
    await payer.send('pay', [FIRST], { valueWei: 5n });
    const block = await minedBlock();
    for (const [slow, found] of [
      [2, 1],
      [3, undefined],
    ] as const) {
      const asked: string[] = [];
      const node = await nodeThat((call) => {
        if (call.method === 'debug_traceBlockByHash') asked.push(call.method);
        if (call.method === 'trace_block') return { error: { code: -32601, message: 'no such method' } };
        const isSlow = call.method === 'debug_traceBlockByHash' && asked.length <= slow;
        return isSlow ? { text: '', stall: true } : forwardTo(anvil.url, call);
      });
      const native = nativeOf(sourceOf([node.url], { timeoutMs: 1_000 }));
      expect((await native.internalTransfers(block, EVERYBODY))?.length).toBe(found);
      expect(asked).toHaveLength(3);
    }
  });

  it('of a block that was reorganised away are not those of the block that took its place', async () => {
    await payer.send('pay', [FIRST], { valueWei: 5n });
    const orphan = await minedBlock();
    await anvil.rpc('anvil_reorg', [1, []]);
    for (const missing of [[], ['debug_traceBlockByHash']]) {
      const node = await nodeWithout(...missing);
      expect(await nativeOf(sourceOf([node.url])).internalTransfers(orphan, EVERYBODY)).toBeNull();
    }
  });
});

describe('native balances', () => {
  const many = Array.from({ length: 1_200 }, (_, i) => `0x${(0xc0ffee0000 + i).toString(16).padStart(40, '0')}`);

  async function withMulticall(): Promise<void> {
    await anvil.rpc('anvil_setCode', [MULTICALL_ADDRESS, contractOf('Multicall.sol', 'Multicall').runtimeCode]);
  }

  it.each([true, false])('are those after the block, whatever came later (Multicall3: %s)', async (hasMulticall) => {
    if (hasMulticall) await withMulticall();
    await anvil.transfer(FIRST, 3n);
    await payer.send('payMany', [many.slice(0, 300), 1_000n], { valueWei: 10n ** 18n, gas: 14_000_000n });
    const block = await minedBlock();
    await payer.send('pay', [FIRST], { valueWei: 5n });
    const later = await minedBlock();

    const node = await nodeWithout();
    const native = nativeOf(sourceOf([node.url]));
    const upper = `0x${FIRST.slice(2).toUpperCase()}`;
    expect(await native.balancesAt([FIRST, upper, SECOND], block)).toEqual(
      new Map([
        [FIRST, 3n],
        [SECOND, 0n],
      ]),
    );
    expect((await native.balancesAt([FIRST], later)).get(FIRST)).toBe(8n);
    expect([...(await native.balancesAt(many, block))]).toEqual(
      many.map((address, i) => [address, i < 300 ? 1_000n + BigInt(i) : 0n]),
    );
    expect(await native.balancesAt([], block)).toEqual(new Map());
    const asked = node.calls.filter(({ method }) => method === 'eth_getBalance').length;
    expect(asked).toBe(hasMulticall ? 0 : 1_203);
  });

  const withoutHashes = (call: NodeCall) =>
    JSON.stringify(call.params).includes('blockHash')
      ? { error: { code: -32602, message: 'invalid argument 1: hex string without 0x prefix' } }
      : forwardTo(anvil.url, call);

  it('are asked for by height where the node takes no block hash', async () => {
    const node = await nodeThat(withoutHashes);
    await anvil.transfer(FIRST, 3n);
    const block = await minedBlock();
    await anvil.transfer(FIRST, 3n);
    await minedBlock();
    for (const hasMulticall of [false, true]) {
      if (hasMulticall) await withMulticall();
      expect(await nativeOf(sourceOf([node.url])).balancesAt([FIRST], block)).toEqual(new Map([[FIRST, 3n]]));
    }
  });

  it('are asked for one by one where the node does not allow so long a call', async () => {
    await withMulticall();
    await anvil.transfer(FIRST, 3n);
    const block = await minedBlock();
    const node = await nodeThat((call) =>
      call.method === 'eth_call' ? { error: { code: -32000, message: 'out of gas' } } : forwardTo(anvil.url, call),
    );
    expect(await nativeOf(sourceOf([node.url])).balancesAt([FIRST], block)).toEqual(new Map([[FIRST, 3n]]));
  });

  it('are not those of another block: one that is gone is an error', async () => {
    await anvil.transfer(FIRST, 3n);
    const orphan = await minedBlock();
    await anvil.rpc('anvil_reorg', [1, []]);
    expect((await blockAt(sourceOf([anvil.url]), orphan.height)).hash).not.toBe(orphan.hash);
    await failureOf(nativeOf(sourceOf([anvil.url])).balancesAt([FIRST], orphan));
    const node = await nodeThat(withoutHashes);
    await failureOf(nativeOf(sourceOf([node.url])).balancesAt([FIRST], orphan));
    await withMulticall();
    await failureOf(nativeOf(sourceOf([node.url])).balancesAt([FIRST], orphan));
  });

  it.each(['0x12', `0x${'0'.repeat(64)}`])('are not taken from an answer of another form: %s', async (result) => {
    const block = await minedBlock();
    const broken = await nodeThat((call) => (call.method === 'eth_call' ? { result } : forwardTo(anvil.url, call)));
    const source = sourceOf([broken.url]);
    expect((await failureOf(nativeOf(source).balancesAt([FIRST], block))).message).toContain('the balances');
  });
});
