import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEPOSIT_FACTORY, depositAddress, FIRST_DEPOSIT_FACTORY } from '../../src/rails/evm/deposit.ts';
import { planSweep } from '../../src/rails/evm/sweep.ts';
import {
  DEPOSIT_ABI,
  failure,
  failures,
  freshTreasury,
  NATIVE,
  startDepositChain,
  STRANGER,
  type Contract,
  type DepositChain,
} from './chain.ts';

let chain: DepositChain;
let token: Contract;

beforeAll(async () => {
  chain = await startDepositChain();
  token = await chain.deploy('OrdinaryToken');
});
afterAll(() => chain.anvil.stop());

/** Pays ether and tokens to each of these addresses, the first of which has number 0. */
async function filledDeposits(
  addresses: readonly string[],
  units: { readonly ether: bigint; readonly tokens: bigint },
) {
  for (const address of addresses) {
    await chain.payEther(address, units.ether);
    await token.send('mint', [address, units.tokens]);
  }
  const balances = [
    { token: null, units: units.ether },
    { token: token.address, units: units.tokens },
  ];
  return addresses.map((address, index) => ({ index, address, balances }));
}

describe('a deposit address', () => {
  const treasury = fc
    .bigInt({ min: 2n ** 64n, max: 2n ** 160n - 1n })
    .map((number) => `0x${number.toString(16).padStart(40, '0')}`);
  const index = fc.integer({ min: 0, max: 2 ** 31 - 1 });

  it('is the same whether the service or the factory computes it', async () => {
    await fc.assert(
      fc.asyncProperty(treasury, index, async (treasury, index) => {
        const onChain = await chain.factory.read('depositAddress', [treasury, BigInt(index)]);
        expect(depositAddress(treasury, index)).toBe(onChain);
      }),
      { numRuns: 200 },
    );
  });

  it('is where the deposit is made, and the deposit pays to the treasury that the address was computed from', async () => {
    await fc.assert(
      fc.asyncProperty(treasury, index, async (treasury, index) => {
        const address = depositAddress(treasury, index);
        expect(await chain.code(address)).toBe('0x');
        expect((await chain.sweep(treasury, [index], [])).succeeded).toBe(true);
        const stated = await chain.at(address, DEPOSIT_ABI).read('treasury');
        expect(String(stated).toLowerCase()).toBe(treasury);
      }),
      { numRuns: 30 },
    );
  });
});

describe('a sweep', () => {
  it('pays ether and tokens that came before any contract was there, exactly, whoever calls', async () => {
    const treasury = freshTreasury();
    const deposits = [7, 2 ** 31 - 1].map((index) => depositAddress(treasury, index));
    for (const deposit of deposits) {
      await chain.payEther(deposit, 10n ** 18n + 1n);
      await token.send('mint', [deposit, 123_456_789n]);
      expect(await chain.code(deposit)).toBe('0x');
    }
    const receipt = await chain.sweep(treasury, [7, 2 ** 31 - 1], [NATIVE, token.address]);
    expect(receipt.succeeded).toBe(true);
    expect(failures(receipt)).toEqual([]);
    expect(await chain.balance(treasury)).toBe(2n * (10n ** 18n + 1n));
    expect(await token.read('balanceOf', [treasury])).toBe(246_913_578n);
    for (const deposit of deposits) {
      expect(await chain.balance(deposit)).toBe(0n);
      expect(await token.read('balanceOf', [deposit])).toBe(0n);
    }
  });

  it('can be made again at the same deposit, with what came later', async () => {
    const treasury = freshTreasury();
    const deposit = depositAddress(treasury, 0);
    for (const round of [1n, 2n, 3n]) {
      await chain.payEther(deposit, 10n);
      await token.send('mint', [deposit, 100n]);
      expect(failures(await chain.sweep(treasury, [0], [token.address, NATIVE]))).toEqual([]);
      expect(await chain.balance(treasury)).toBe(10n * round);
      expect(await token.read('balanceOf', [treasury])).toBe(100n * round);
    }
  });

  it('does nothing where there is nothing, and takes an index or a token that is named twice', async () => {
    const treasury = freshTreasury();
    await chain.payEther(depositAddress(treasury, 1), 10n);
    const receipt = await chain.sweep(treasury, [0, 1, 1], [NATIVE, token.address, NATIVE]);
    expect(receipt.succeeded).toBe(true);
    expect(receipt.logs).toEqual([]);
    expect(await chain.balance(treasury)).toBe(10n);
  });

  it.each([
    ['an ordinary one', 'OrdinaryToken', 1_000n],
    ["one whose transfer returns nothing, like Tether's", 'NoReturnToken', 1_000n],
    ['one that keeps a fee', 'FeeToken', 990n],
    ["one whose transfer pays and answers false, like Tether's on Tron", 'PayingFalseToken', 1_000n],
  ])('pays all of a token: %s', async (_kind, name, arrives) => {
    const treasury = freshTreasury();
    const deposit = depositAddress(treasury, 0);
    const token = await chain.deploy(name);
    await token.send('mint', [deposit, 1_000n]);
    expect(failures(await chain.sweep(treasury, [0], [token.address]))).toEqual([]);
    expect(await token.read('balanceOf', [treasury])).toBe(arrives);
    expect(await token.read('balanceOf', [deposit])).toBe(0n);
  });

  it.each([
    ['answers false', 'FalseToken'],
    ['answers as if it had paid', 'LyingToken'],
    ['reverts', 'RevertingToken'],
    ['uses up its gas', 'BurningToken'],
    ['reverts with an endless reason', 'BombToken'],
  ])('goes on past a token that %s, and says which payout failed', async (_how, name) => {
    const treasury = freshTreasury();
    const deposits = [0, 1].map((index) => depositAddress(treasury, index));
    const bad = await chain.deploy(name);
    for (const deposit of deposits) {
      await chain.payEther(deposit, 10n);
      await token.send('mint', [deposit, 100n]);
      await bad.send('mint', [deposit, 1_000n]);
    }
    const receipt = await chain.sweep(treasury, [0, 1], [bad.address, NATIVE, token.address]);
    expect(receipt.succeeded).toBe(true);
    expect(failures(receipt)).toEqual(deposits.map((deposit) => failure(deposit, bad.address)));
    expect(await chain.balance(treasury)).toBe(20n);
    expect(await token.read('balanceOf', [treasury])).toBe(200n);
    for (const deposit of deposits) expect(await bad.read('balanceOf', [deposit])).toBe(1_000n);
  });

  it('continues after a deposit that the token blocks, with the same token of the others', async () => {
    const treasury = freshTreasury();
    const deposits = [0, 1, 2].map((index) => depositAddress(treasury, index));
    const blocking = await chain.deploy('BlockingToken');
    for (const deposit of deposits) await blocking.send('mint', [deposit, 100n]);
    await blocking.send('block_', [deposits[1]]);
    const receipt = await chain.sweep(treasury, [0, 1, 2], [blocking.address]);
    expect(failures(receipt)).toEqual([failure(deposits[1] ?? '', blocking.address)]);
    expect(await blocking.read('balanceOf', [treasury])).toBe(200n);
    expect(await blocking.read('balanceOf', [deposits[1]])).toBe(100n);
  });

  it('empties the deposits of the first factory too, by that factory', async () => {
    const treasury = freshTreasury();
    const deposits = await filledDeposits(
      [0, 1].map((index) => depositAddress(treasury, index, FIRST_DEPOSIT_FACTORY)),
      { ether: 10n, tokens: 100n },
    );
    const plan = planSweep({ treasury, deposits, factory: FIRST_DEPOSIT_FACTORY, factoryDeployed: false });
    expect(plan.calls.map(({ purpose }) => purpose)).toEqual(['deploy_factory', 'sweep']);
    for (const { to, data, gasLimit } of plan.calls) {
      expect((await chain.send(to, data, { from: STRANGER, gas: gasLimit })).succeeded).toBe(true);
    }
    expect(await chain.balance(treasury)).toBe(20n);
    expect(await token.read('balanceOf', [treasury])).toBe(200n);
    expect(() => planSweep({ treasury, deposits, factoryDeployed: true })).toThrow(RangeError);
  });

  it('continues after an address that is no token', async () => {
    const treasury = freshTreasury();
    const deposit = depositAddress(treasury, 0);
    await chain.payEther(deposit, 10n);
    const receipt = await chain.sweep(treasury, [0], [STRANGER, NATIVE]);
    expect(failures(receipt)).toEqual([failure(deposit, STRANGER)]);
    expect(await chain.balance(treasury)).toBe(10n);
  });

  it('leaves ether where it is when the treasury takes none, and pays the tokens', async () => {
    const treasury = (await chain.deploy('RefusingTreasury')).address;
    const deposit = depositAddress(treasury, 0);
    await chain.payEther(deposit, 10n);
    await token.send('mint', [deposit, 100n]);
    const receipt = await chain.sweep(treasury, [0], [NATIVE, token.address]);
    expect(failures(receipt)).toEqual([failure(deposit, NATIVE)]);
    expect(await chain.balance(deposit)).toBe(10n);
    expect(await token.read('balanceOf', [treasury])).toBe(100n);
  });

  it('pays everything to a treasury that has its deposits pay again while it is paid', async () => {
    const treasury = await chain.deploy('ReentrantTreasury', [DEPOSIT_FACTORY.address]);
    await chain.sweep(treasury.address, [0, 1], []);
    for (const index of [0, 1]) await chain.payEther(depositAddress(treasury.address, index), 10n);
    const receipt = await chain.sweep(treasury.address, [0, 1], [NATIVE]);
    expect(receipt.succeeded).toBe(true);
    expect(failures(receipt)).toEqual([]);
    expect(await treasury.read('payments')).toBe(2n);
    expect(await chain.balance(treasury.address)).toBe(20n);
  });
});

describe('the gas limit', () => {
  it('that a node estimates is enough for every payout', async () => {
    const treasury = freshTreasury();
    const deposits = await filledDeposits(
      [0, 1, 2].map((index) => depositAddress(treasury, index)),
      { ether: 1n, tokens: 1n },
    );
    const [call] = planSweep({ treasury, deposits, factoryDeployed: true }).calls;
    if (!call) throw new Error('nothing was planned');
    const request = { from: STRANGER, to: call.to, data: call.data };
    const estimate = BigInt(String(await chain.anvil.rpc('eth_estimateGas', [request])));
    const receipt = await chain.send(call.to, call.data, { from: STRANGER, gas: estimate });
    expect(receipt.succeeded).toBe(true);
    expect(failures(receipt)).toEqual([]);
    expect(await chain.balance(treasury)).toBe(3n);
    expect(await token.read('balanceOf', [treasury])).toBe(3n);
  });

  it('when too low undoes the whole sweep, and never passes for a token that refuses', async () => {
    const treasury = freshTreasury();
    const deposit = depositAddress(treasury, 0);
    // One sixty-fourth of what it takes would be enough to report its failure.
    const costly = await chain.deploy('CostlyToken');
    await chain.payEther(deposit, 1n);
    await costly.send('mint', [deposit, 1n]);
    for (let gas = 60_000n; gas < 700_000n; gas += 10_000n) {
      const receipt = await chain.sweep(treasury, [0], [NATIVE, costly.address], gas);
      expect(failures(receipt)).toEqual([]);
      const swept = [await chain.balance(treasury), await costly.read('balanceOf', [treasury])];
      expect(swept).toEqual(receipt.succeeded ? [1n, 1n] : [0n, 0n]);
      if (receipt.succeeded) return;
    }
    throw new Error('no limit was enough');
  });
});

/** Known and accepted: docs/design/sweeps.md. */
describe('ether sent with no gas to spare', () => {
  it('arrives while no contract is there, and goes back to its sender afterwards', async () => {
    const treasury = freshTreasury();
    const deposit = depositAddress(treasury, 0);
    const payer = await chain.deploy('StipendPayer');
    const attempts = [
      () => payer.send('pay', [deposit], { valueWei: 10n }),
      () => chain.send(deposit, '0x', { valueWei: 10n, gas: 21_000n }),
    ];
    for (const attempt of attempts) expect((await attempt()).succeeded).toBe(true);
    expect(await chain.balance(deposit)).toBe(20n);
    await chain.sweep(treasury, [0], [NATIVE]);
    for (const attempt of attempts) expect((await attempt()).succeeded).toBe(false);
    expect(await chain.balance(deposit)).toBe(0n);
    await chain.payEther(deposit, 10n);
    expect(await chain.balance(deposit)).toBe(10n);
  });
});
