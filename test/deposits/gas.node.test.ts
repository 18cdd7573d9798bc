import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { depositAddress } from '../../src/rails/evm/deposit.ts';
import type { FilledDeposit } from '../../src/rails/evm/sweep.ts';
import { freshAddress, startDepositChain, type Contract, type DepositChain } from './chain.ts';

let chain: DepositChain;
let token: Contract;

beforeAll(async () => {
  chain = await startDepositChain();
  token = await chain.deploy('OrdinaryToken');
});
afterAll(() => chain.anvil.stop());

type Money = 'ether' | 'token';

/** Puts some money on the first deposits of a treasury. */
async function fill(treasury: string, count: number, money: Money): Promise<readonly FilledDeposit[]> {
  const deposits: FilledDeposit[] = [];
  for (let index = 0; index < count; index++) {
    const address = depositAddress(treasury, index);
    if (money === 'ether') await chain.send(address, '0x', { valueWei: 5n });
    else await token.send('mint', [address, 5n]);
    deposits.push({ index, address, balances: [{ token: money === 'ether' ? null : token.address, units: 5n }] });
  }
  return deposits;
}

/** The gas of one deposit's share of a sweep; checks that the plan foresaw it. */
async function gasPerDeposit(treasury: string, count: number, money: Money): Promise<bigint> {
  const deposits = await fill(treasury, count, money);
  const done = await chain.carryOut({ treasury, deposits, factoryDeployed: true });
  expect(done).toHaveLength(1);
  const [sweep] = done;
  if (!sweep) throw new Error('nothing was swept');
  expect(sweep.receipt.succeeded).toBe(true);
  expect(sweep.receipt.gasUsed).toBeLessThanOrEqual(sweep.call.gasEstimate);
  return sweep.receipt.gasUsed / BigInt(count);
}

function figure(gas: bigint): string {
  return (((gas + 50n) / 100n) * 100n).toLocaleString('en-US');
}

it('gas per sweep is what contracts/README.md says', async () => {
  const rows = [`| 1 | factory | ${figure(chain.deploymentGas)} | |`];
  let number = 0n;
  for (const money of ['ether', 'token'] as const) {
    for (const count of [1, 10, 50]) {
      number += 1n;
      const treasury = freshAddress(number);
      // A treasury in use: its first ether and its first token ever would cost more.
      await chain.send(treasury, '0x', { valueWei: 1n });
      await token.send('mint', [treasury, 1n]);
      const first = await gasPerDeposit(treasury, count, money);
      const again = await gasPerDeposit(treasury, count, money);
      rows.push(`| ${count} | ${money} | ${figure(first)} | ${figure(again)} |`);
    }
  }
  const readme = await readFile(new URL('../../contracts/README.md', import.meta.url), 'utf8');
  const stated = readme.match(/^\| +\d.*\|$/gm)?.map((row) => row.replaceAll(/ +/g, ' '));
  expect(stated).toEqual(rows);
});
