import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { HDKey } from '@scure/bip32';
import { sql } from 'kysely';
import { testApp } from '../../test/harness.ts';
import { program, textAt } from './program.fixture.ts';

it.each([[['recover']], [['recover', 'book', '0x52908400098527886E0F7030069857D2E4169EE7', '--amount', '5']]])(
  '%j where there is no database makes none, and does not say that all is well',
  async (args) => {
    const cointill = await program();
    expect(await cointill.run(...args)).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`There is no Cointill data in ${cointill.dataDir}. Set DATA_DIR or DATABASE_URL`),
    });
    expect(existsSync(path.join(cointill.dataDir, 'postgres'))).toBe(false);
  },
);

/** A restored shop, and what came to its addresses in the lost hours; its prices are fixed, nobody is asked. */
async function restoredShop() {
  const app = await testApp();
  const { database, projectId } = app;
  const cointill = await program({ DATABASE_URL: database.url, FIXED_RATES: 'ETH=3000,EUR=1.20' });
  const account = HDKey.fromMasterSeed(Buffer.alloc(32, 7)).derive("m/44'/60'/0'").publicExtendedKey;
  const wallet = ['--project', projectId, '--network', 'ethereum', '--xpub', account];
  await cointill.json('wallet', 'set', ...wallet);
  await cointill.json('recover', '--skip', '1000');
  let index = 100;
  const receive = async (units: bigint, hash: string): Promise<string> => {
    index += 1;
    const address = `0x${String(index).padStart(40, '0')}`;
    await sql`
      insert into lost_transfers (network, transaction_hash, asset, output_index, address, first_address, address_index, amount_units,
        found_at, block_height, block_hash, block_at, block_position)
      select 'ethereum', ${hash}, 'ETH', 0, ${address}, first_address, ${index}, ${units}, now(), 100, 'b', '2026-11-21T08:15:00Z', 0
      from wallets`.execute(app.db);
    return address;
  };
  return { url: database.url, cointill, receive };
}

const ONE_ETHER = 10n ** 18n;

it('booking shows what came, when and in which transaction, and what it is worth now in the currency of the order', async () => {
  const { cointill, receive } = await restoredShop();
  const address = await receive(ONE_ETHER / 100n, '0xaa');
  const booked = await cointill.json('recover', 'book', address, '--amount', '27.50', '--currency', 'EUR');
  expect(booked).toMatchObject({
    received: [
      { amount: '0.01', asset: 'ETH', network: 'ethereum', transaction_hash: '0xaa', at: '2026-11-21T08:15:00.000Z' },
    ],
    worth_now: '25',
    warning: null,
  });
  const other = await receive(ONE_ETHER / 100n, '0xbb');
  const { code, stdout, stderr } = await cointill.run('recover', 'book', other, '--amount', '30');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^Received +0\.01 ETH on ethereum at 2026-11-21T08:15:00\.000Z, transaction 0xbb\n/);
  expect(stdout).toMatch(/Worth now +about 30 USD; the price may have been different on the day the money arrived\n/);
});

it.each(['3', '37', '300'])('booking 30 USD that came as %s warns, and books all the same', async (amount) => {
  const { cointill, receive } = await restoredShop();
  const address = await receive(ONE_ETHER / 100n, '0xaa');
  const { code, stdout, stderr } = await cointill.run('recover', 'book', address, '--amount', amount, '--json');
  expect(code).toBe(0);
  const withoutEmpty = `The payment is booked with ${amount} USD, but the received money is worth about 30 USD at today's price. If the price on the day the money arrived does not explain the difference, `;
  expect(stderr).toContain(`Warning: ${withoutEmpty}`);
  expect(textAt(JSON.parse(stdout), 'warning')).toContain(withoutEmpty);
});

it('booking what has no price here says so, and does not warn', async () => {
  const { url, receive } = await restoredShop();
  const address = await receive(ONE_ETHER / 100n, '0xaa');
  const priceless = await program({ DATABASE_URL: url });
  const { code, stdout, stderr } = await priceless.run('recover', 'book', address, '--amount', '300');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/Worth now +unknown: there is no price for ETH in USD here\./);
});

it('money that is booked by several at once is booked once, and the others get the answer of those who come later', async () => {
  const { url, cointill, receive } = await restoredShop();
  const address = await receive(ONE_ETHER / 100n, '0xaa');
  const racing = await program({ DATABASE_URL: url, FIXED_RATES: 'ETH=3000,EUR=1.20' }, 'process');
  const runs = await Promise.all([1, 2, 3].map(() => racing.run('recover', 'book', address, '--amount', '30')));
  const later = await cointill.run('recover', 'book', address, '--amount', '30');
  expect(later).toMatchObject({ code: 1, stderr: expect.stringContaining(`no lost money at the address ${address}`) });
  expect(runs.toSorted((a, b) => Number(a.code) - Number(b.code))).toEqual([
    expect.objectContaining({ code: 0 }),
    later,
    later,
  ]);
});
