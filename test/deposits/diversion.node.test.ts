import * as fc from 'fast-check';
import { toFunctionSelector } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEPOSIT_FACTORY, depositAddress } from '../../src/rails/evm/deposit.ts';
import { ANVIL_ACCOUNT } from '../anvil.ts';
import {
  DEPOSIT_ABI,
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

describe('nobody can divert money', () => {
  it('by naming another treasury: that names another deposit', async () => {
    const treasury = freshTreasury();
    const deposit = depositAddress(treasury, 0);
    await chain.payEther(deposit, 10n);
    const before = await chain.balance(STRANGER);
    await chain.factory.send('sweep', [STRANGER, [0n], [NATIVE]], { from: ANVIL_ACCOUNT });
    expect(await chain.balance(STRANGER)).toBe(before);
    expect(await chain.balance(deposit)).toBe(10n);
    await chain.sweep(treasury, [0], [NATIVE]);
    await chain.payEther(deposit, 10n);
    await chain.factory.send('sweep', [STRANGER, [0n], [NATIVE]], { from: ANVIL_ACCOUNT });
    expect(await chain.balance(STRANGER)).toBeLessThanOrEqual(before);
    expect(await chain.balance(deposit)).toBe(10n);
  });

  it('by calling the deposit itself: it knows two functions, and both know its treasury alone', async () => {
    const functions = DEPOSIT_ABI.flatMap((item) => (item.type === 'function' ? [item.name] : []));
    expect(functions).toEqual(['flush', 'treasury']);
    const treasury = freshTreasury();
    await chain.sweep(treasury, [0], []);
    const deposit = chain.at(depositAddress(treasury, 0), DEPOSIT_ABI);
    await chain.payEther(deposit.address, 10n);
    await token.send('mint', [deposit.address, 100n]);
    for (const asset of [NATIVE, token.address]) {
      expect((await deposit.send('flush', [asset], { from: STRANGER })).succeeded).toBe(true);
    }
    expect(await chain.balance(treasury)).toBe(10n);
    expect(await token.read('balanceOf', [treasury])).toBe(100n);
    expect(await token.read('balanceOf', [STRANGER])).toBe(0n);
  });

  it('by any call data, with or without ether', async () => {
    const treasury = freshTreasury();
    await chain.sweep(treasury, [0], []);
    const deposit = depositAddress(treasury, 0);
    await chain.payEther(deposit, 1_000n);
    await token.send('mint', [deposit, 1_000n]);
    let sent = 1_000n;
    const names = ['flush(address)', 'treasury()', 'transfer(address,uint256)', 'approve(address,uint256)'];
    const selector = fc.constantFrom('', ...names.map((name) => toFunctionSelector(name).slice(2)));
    const word = fc.constantFrom(NATIVE, STRANGER, token.address, treasury).map((it) => it.slice(2).padStart(64, '0'));
    const bytes = fc.uint8Array({ maxLength: 100 }).map((it) => Buffer.from(it).toString('hex'));
    const callData = fc.tuple(selector, fc.array(fc.oneof(word, bytes), { maxLength: 3 }));
    await fc.assert(
      fc.asyncProperty(callData, fc.nat(5), async ([selector, words], value) => {
        const options = { from: STRANGER, valueWei: BigInt(value) };
        const receipt = await chain.send(deposit, `0x${selector}${words.join('')}`, options);
        if (receipt.succeeded) sent += BigInt(value);
        expect((await chain.balance(deposit)) + (await chain.balance(treasury))).toBe(sent);
        const tokens = await Promise.all([deposit, treasury].map((owner) => token.read('balanceOf', [owner])));
        expect(tokens.map(Number).reduce((sum, units) => sum + units, 0)).toBe(1_000);
      }),
      { numRuns: 100 },
    );
  });

  it('by a token that calls back while it is transferred', async () => {
    const treasury = freshTreasury();
    const thief = await chain.deploy('ReentrantToken', [DEPOSIT_FACTORY.address]);
    for (const index of [0, 1, 2]) {
      await chain.payEther(depositAddress(treasury, index), 10n);
      await thief.send('mint', [depositAddress(treasury, index), 100n]);
    }
    // Within a sweep its calls run out of gas; called by itself, the deposit lets it do all it wants.
    const contained = await chain.sweep(treasury, [0, 1, 2], [NATIVE, thief.address]);
    expect(failures(contained)).toHaveLength(3);
    await chain.payEther(depositAddress(treasury, 0), 10n);
    const deposit = chain.at(depositAddress(treasury, 0), DEPOSIT_ABI);
    expect((await deposit.send('flush', [thief.address], { from: STRANGER })).succeeded).toBe(true);
    expect(await thief.read('attempts')).toBeGreaterThan(2n);
    expect(failures(await chain.sweep(treasury, [0, 1, 2], [thief.address]))).toEqual([]);
    expect(await chain.balance(treasury)).toBe(40n);
    expect(await thief.read('balanceOf', [treasury])).toBe(300n);
    for (const other of [thief.address, DEPOSIT_FACTORY.address]) {
      expect(await chain.balance(other)).toBe(0n);
      expect(await thief.read('balanceOf', [other])).toBe(0n);
    }
  });

  it('or lose it at the implementation, which takes, pays and reports nothing', async () => {
    const implementation = chain.at(DEPOSIT_FACTORY.implementation, DEPOSIT_ABI);
    expect((await chain.send(implementation.address, '0x', { valueWei: 1n })).succeeded).toBe(false);
    expect((await implementation.send('flush', [NATIVE])).succeeded).toBe(false);
    await token.send('mint', [implementation.address, 5n]);
    expect((await implementation.send('flush', [token.address])).succeeded).toBe(false);
    await expect(implementation.read('treasury')).rejects.toThrow('revert');
  });

  it('or burn it by naming no treasury', async () => {
    expect((await chain.sweep(NATIVE, [0], [NATIVE])).succeeded).toBe(false);
  });
});
