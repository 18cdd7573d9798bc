import { HDKey } from '@scure/bip32';
import { expect, it } from 'vitest';
import { testApp } from '../../test/harness.ts';
import { program } from './program.fixture.ts';

// The account m/44'/60'/0' of a seed that is no secret.
const account = HDKey.fromMasterSeed(Buffer.alloc(32, 7)).derive("m/44'/60'/0'");

it('sets a wallet and shows its first addresses', async () => {
  const { database, projectId } = await testApp();
  const cointill = await program({ DATABASE_URL: database.url });
  const set = ['wallet', 'set', '--project', projectId, '--network', 'ethereum', '--xpub', account.publicExtendedKey];
  const { note, changes, warnings, ...made } = Object(await cointill.json(...set, '--confirmations', '3'));
  expect({ note, changes }).toEqual({ note: null, changes: [] });
  expect(warnings).toEqual([expect.stringContaining('a first index')]);
  const address = expect.stringMatching(/^0x[0-9a-fA-F]{40}$/);
  expect(made).toEqual({
    project_id: projectId,
    network: 'ethereum',
    kind: 'xpub',
    xpub: account.publicExtendedKey,
    confirmations: 3,
    confirmation_tiers: [{ below_usd: null, confirmations: 3 }],
    tolerance_percent: 0.5,
    next_index: 0,
    gap: 0,
    first_addresses: [address, address, address],
    created_at: expect.any(String),
  });
  expect(await cointill.json('wallet', 'show', '--project', projectId)).toEqual([made]);
  const again = await cointill.run(...set);
  expect(again.stdout).toContain('Confirmations  12 below 1000 USD, 32 below 100000 USD, 64 (default)');
  const [first] = made.first_addresses;
  expect(again.stdout).toContain(`  0  ${first}\n`);
  expect(again.stdout).toContain('Confirmations from now on: the default for the amount (before: 3).\n');
  expect(again.stdout).toContain('Note: Use an account of your wallet that nothing else uses');
  expect(await cointill.json(...set, '--first-index', '7')).toMatchObject({
    next_index: 7,
    changes: [expect.any(String), 'The next address is number 7. Numbers 0 to 6 are skipped.'],
    warnings: [],
  });
  expect(await cointill.run(...set, '--first-index', '-1')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Give a whole number from 0 to 100000000.'),
  });
});

it('shows on which terms payments are made, and changes each of them alone', async () => {
  const { database, projectId } = await testApp();
  const cointill = await program({ DATABASE_URL: database.url, ETHEREUM_RPC_URL: 'http://127.0.0.1:9' });
  const ether = ['--network', 'ethereum', '--xpub', account.publicExtendedKey];
  await cointill.json('wallet', 'set', '--project', projectId, ...ether);
  const terms = (...options: readonly string[]) => cointill.json('wallet', 'terms', '--project', projectId, ...options);
  const usual = {
    project_id: projectId,
    coin_order: [],
    coins_off: [],
    offered: ['ETH/ethereum', 'USDT/ethereum', 'USDC/ethereum'],
    monitoring_hours: 168,
    has_own_window: false,
    spread_percent: 0,
  };
  expect(await terms()).toEqual(usual);
  const coins = {
    coin_order: ['USDC/ethereum'],
    coins_off: ['ETH/ethereum'],
    offered: ['USDC/ethereum', 'USDT/ethereum'],
  };
  expect(await terms('--coin-order', 'USDC/ethereum', '--coins-off', 'ETH/ethereum')).toEqual({ ...usual, ...coins });
  const window = { monitoring_hours: 72, has_own_window: true, spread_percent: 1.5 };
  expect(await terms('--monitoring-hours', '72', '--spread', '1.5')).toEqual({ ...usual, ...coins, ...window });
  const { stdout } = await cointill.run('wallet', 'terms', '--project', projectId, '--monitoring-hours', 'none');
  expect(stdout).toMatch(/^Watched +168 hours after the end \(MONITORING_HOURS\)$/m);
  expect(stdout).toMatch(/^Not offered +ETH\/ethereum$/m);
  expect(await cointill.run('wallet', 'terms', '--project', projectId, '--monitoring-hours', '0')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--monitoring-hours must be a whole number from 1 to 8760, or none.'),
  });
});

it('refuses a private key without repeating or storing it, and what is no wallet', async () => {
  const { database, projectId } = await testApp();
  const cointill = await program({ DATABASE_URL: database.url });
  const set = (network: string, xpub: string, ...more: readonly string[]) =>
    cointill.run('wallet', 'set', '--project', projectId, '--network', network, '--xpub', xpub, ...more);
  const privateKey = account.privateExtendedKey;
  const [asPrivate, cutShort, otherNetwork, tooFew] = await Promise.all([
    set('ethereum', privateKey),
    set('ethereum', account.publicExtendedKey.slice(0, 50)),
    set('dogecoin', account.publicExtendedKey),
    set('ethereum', account.publicExtendedKey, '--confirmations', '0'),
  ]);
  expect(asPrivate).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('--xpub: This is an extended private key'),
  });
  expect(asPrivate.stderr).not.toContain(privateKey.slice(0, 20));
  expect(cutShort).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--xpub: The extended public key is damaged'),
  });
  expect(otherNetwork).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--network must be one of bitcoin, ethereum'),
  });
  expect(tooFew).toMatchObject({ code: 2, stderr: expect.stringContaining('whole number from 1 to 10000') });
  expect(await database.db.selectFrom('wallets').selectAll().execute()).toEqual([]);
});
