import * as fc from 'fast-check';
import { encodeFunctionData, parseAbi, toHex } from 'viem';
import { describe, expect, it } from 'vitest';
import { DEPOSIT_FACTORY, DETERMINISTIC_DEPLOYER, depositAddress } from './deposit.ts';
import { MAX_CALL_GAS, planSweep, sweepsIn, type DepositBalance, type FilledDeposit } from './sweep.ts';

const TREASURY = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const USDT = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const ZERO = `0x${'0'.repeat(40)}` as const;
const ABI = parseAbi(['function sweep(address treasury, uint256[] indexes, address[] tokens)']);

function deposit(index: number, ...balances: readonly DepositBalance[]): FilledDeposit {
  return { index, address: depositAddress(TREASURY, index), balances };
}

function units(token: string | null, units = 1n): DepositBalance {
  return { token, units };
}

function many(count: number, ...balances: readonly DepositBalance[]): readonly FilledDeposit[] {
  return Array.from({ length: count }, (_, index) => deposit(index, ...balances));
}

describe('a sweep plan', () => {
  it('writes call data as another library does, for any deposits', () => {
    const token = fc.constantFrom(null, USDT, USDC);
    const contents = fc.uniqueArray(token, { minLength: 1 });
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(2 ** 31 - 1), { maxLength: 8, minLength: 1 }), contents, (indexes, tokens) => {
        const deposits = indexes.map((index) => deposit(index, ...tokens.map((token) => units(token))));
        const [call, ...more] = planSweep({ treasury: TREASURY, deposits, factoryDeployed: true }).calls;
        expect(more).toEqual([]);
        expect(call?.to).toBe(DEPOSIT_FACTORY.address);
        expect(new Set(call?.tokens)).toEqual(new Set(tokens));
        const args = [
          TREASURY,
          indexes.map(BigInt),
          (call?.tokens ?? []).map((token) => (token === null ? ZERO : toHex(BigInt(token), { size: 20 }))),
        ] as const;
        expect(call?.data).toBe(encodeFunctionData({ abi: ABI, functionName: 'sweep', args }));
      }),
    );
  });

  it('begins with the factory where it is missing, and only when there is something to sweep', () => {
    const deposits = many(1, units(null));
    const [first, second, ...more] = planSweep({ treasury: TREASURY, deposits, factoryDeployed: false }).calls;
    expect(first).toMatchObject({ purpose: 'deploy_factory', to: DETERMINISTIC_DEPLOYER, indexes: [] });
    expect(first?.data).toBe(DEPOSIT_FACTORY.salt + DEPOSIT_FACTORY.initCode.slice(2));
    expect(second).toMatchObject({ purpose: 'sweep', indexes: [0], tokens: [null] });
    expect(more).toEqual([]);
    const nothing = many(3, units(null, 0n), units(USDT, 0n));
    expect(planSweep({ treasury: TREASURY, deposits: nothing, factoryDeployed: false }).calls).toEqual([]);
  });

  it('sweeps a token only from deposits that hold it, and counts two spellings of it as one', () => {
    const deposits = [
      deposit(0, units(null)),
      deposit(1, units(USDT)),
      deposit(2, units(null), units(USDT, 0n)),
      deposit(3, units(USDT.toLowerCase()), units(null), units(USDT)),
    ];
    const { calls } = planSweep({ treasury: TREASURY, deposits, factoryDeployed: true });
    expect(calls.map(({ indexes, tokens }) => ({ indexes, tokens }))).toEqual([
      { indexes: [0, 2], tokens: [null] },
      { indexes: [1], tokens: [USDT] },
      { indexes: [3], tokens: [null, USDT] },
    ]);
  });

  it('empties every deposit once, in calls that stay below the gas bound and the number asked for', () => {
    for (const maxPerCall of [1, 7, 10_000]) {
      const deposits = many(300, units(null), units(USDT), units(USDC));
      const { calls } = planSweep({ treasury: TREASURY, deposits, factoryDeployed: true, maxPerCall });
      expect(calls.flatMap(({ indexes }) => indexes)).toEqual(deposits.map(({ index }) => index));
      for (const { indexes, gasEstimate, gasLimit } of calls) {
        expect(indexes.length).toBeLessThanOrEqual(maxPerCall);
        expect(gasEstimate).toBeLessThan(gasLimit);
        expect(gasLimit).toBeLessThanOrEqual(MAX_CALL_GAS);
      }
    }
  });

  it('names its deposits also as a part of other call data, which no length or number can make slow', () => {
    const deposits = many(3, units(null));
    const [call] = planSweep({ treasury: TREASURY, deposits, factoryDeployed: true }).calls;
    const data = call?.data ?? '';
    const named = { treasury: TREASURY.toLowerCase(), indexes: deposits.map(({ index }) => index) };
    expect(sweepsIn(data)).toEqual([named]);
    const wrapped = `0x6a761202${data.slice(2).padStart(999, '0')}${'0'.repeat(77)}${data.slice(2)}`;
    expect(sweepsIn(wrapped)).toEqual([named, named]);
    for (const broken of [
      '0x',
      data.slice(0, 200),
      data.replace(/0{62}60/, 'f'.repeat(64)),
      data.slice(0, 10).repeat(2),
    ]) {
      expect(sweepsIn(broken)).toEqual([]);
    }
    // Each claims all that follows.
    const selector = data.slice(2, 10);
    const words = [`${'0'.repeat(24)}${'1'.repeat(40)}`, '40'.padStart(64, '0'), 'ff'.padStart(64, '0')];
    const hostile = `0x${`${selector}${words.join('')}`.repeat(10_000)}`;
    expect(sweepsIn(hostile).reduce((sum, { indexes }) => sum + indexes.length, 0)).toBeLessThan(hostile.length / 64);
  });

  it("is refused for an address that is not the treasury's, for another treasury and for calls of nothing", () => {
    const strange = { ...deposit(1, units(null)), index: 2 };
    expect(() => planSweep({ treasury: TREASURY, deposits: [strange], factoryDeployed: true })).toThrow(RangeError);
    const deposits = many(1, units(null));
    expect(() => planSweep({ treasury: USDT, deposits, factoryDeployed: true })).toThrow(RangeError);
    expect(() => planSweep({ treasury: ZERO, deposits: [], factoryDeployed: true })).toThrow(RangeError);
    expect(() => planSweep({ treasury: TREASURY, deposits, factoryDeployed: true, maxPerCall: 0 })).toThrow(RangeError);
  });
});
