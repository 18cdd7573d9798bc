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
  expect(warnings).toEqual([expect.stringContaining('--first-index')]);
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
  expect(again.stdout).toContain('Confirmations from now on: by the amount, the default (before: 3).\n');
  expect(again.stdout).toContain('Note: Give an account of your wallet that nothing else uses');
  expect(await cointill.json(...set, '--first-index', '7')).toMatchObject({
    next_index: 7,
    changes: [expect.any(String), 'The next address is number 7; numbers 0 to 6 are left out.'],
    warnings: [],
  });
  expect(await cointill.run(...set, '--first-index', '-1')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('It must be a whole number from 0 to 100000000.'),
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
