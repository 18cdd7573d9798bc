import { describe, expect, it } from 'vitest';
import { testApp, type TestApp } from '../../../test/harness.ts';
import { depositAddress, FIRST_DEPOSIT_FACTORY } from '../../rails/evm/deposit.ts';
import { publicKeyAt } from '../../rails/utxo/wallet.fixture.ts';
import type { WalletSource } from '../../rails/family.ts';
import { MAIN_CHAINS } from '../../rails/utxo/params.ts';
import { createWalletOpener } from '../../rails/wallet.ts';
import type { Network } from '../../domain/networks.ts';
import { lockWallets, takeIndexes } from '../../store/wallets/wallet-locks.ts';
import { firstAddresses, setProjectWallet, type WalletRequest, type WalletSet } from './wallets.ts';

const ZPUB = publicKeyAt("m/84'/0'/0'", 'zpub');
const XPUB = publicKeyAt("m/84'/0'/0'", 'xpub');
const ORIGIN = '[73c5da0a/84h/0h/0h]';
const BARE = `wpkh(${XPUB}/0/*)`;
const WHOLE = `wpkh(${ORIGIN}${XPUB}/<0;1>/*)`;

const descriptor = (text: string): WalletSource => ({ kind: 'descriptor', text });

async function set(app: TestApp, source: WalletSource, more: Partial<WalletRequest> = {}): Promise<WalletSet> {
  const request = { projectId: app.projectId, network: 'bitcoin', confirmations: null, toleranceBasisPoints: null };
  app.clock.advance(1);
  const outcome = await setProjectWallet(app, { ...request, source, ...more }, MAIN_CHAINS);
  if (outcome.kind !== 'done') throw new Error(outcome.code);
  return outcome;
}

const take = (app: TestApp, network: Network = 'bitcoin'): Promise<number | undefined> =>
  app.db.transaction().execute(async (trx) => {
    const wallets = await lockWallets(trx, [{ projectId: app.projectId, network }]);
    await trx.executeQuery(takeIndexes(wallets.map((wallet) => ({ ...wallet, nextIndex: wallet.nextIndex + 1 }))));
    return wallets[0]?.nextIndex;
  });

/** The wallets of the project, in the order in which they were set. */
async function stored(app: TestApp) {
  const rows = await app.db.selectFrom('wallets').selectAll().orderBy('id').execute();
  return rows.map(({ kind, source, replaced_at }) => ({ kind, source, inUse: replaced_at === null }));
}

describe('a wallet that is set again in another form', () => {
  it.each([
    ['with its change chain', descriptor(BARE), descriptor(`wpkh(${XPUB}/<0;1>/*)`)],
    ['with its origin', descriptor(`wpkh(${XPUB}/<0;1>/*)`), descriptor(WHOLE)],
    ['with another origin', descriptor(`wpkh([00000000/84h/0h/0h]${XPUB}/<0;1>/*)`), descriptor(WHOLE)],
    ['as a descriptor', { kind: 'xpub', text: ZPUB } as const, descriptor(WHOLE)],
    ['as a key again', descriptor(WHOLE), { kind: 'xpub', text: ZPUB } as const],
  ])('%s takes the new form, says so, and goes on with its addresses', async (_name, first, second) => {
    const app = await testApp();
    const before = (await set(app, first)).wallet;
    expect(await take(app)).toBe(0);
    const { wallet, changes } = await set(app, second);
    expect(wallet).toMatchObject({ id: before.id, kind: second.kind, nextIndex: 1 });
    expect(wallet.source.startsWith(second.text)).toBe(true);
    expect(changes).toEqual([
      `This is the same wallet in another form (before: ${before.kind} ${before.source}). Its addresses stay the same, and the next address is number 1.`,
    ]);
    expect(await stored(app)).toHaveLength(1);
    expect(await take(app)).toBe(1);
  });

  it('after another one was set in between, also for the addresses that are still out from before', async () => {
    const app = await testApp();
    await set(app, descriptor(BARE));
    await set(app, { kind: 'xpub', text: publicKeyAt("m/84'/0'/1'", 'zpub') });
    const { wallet, changes } = await set(app, descriptor(WHOLE));
    expect(changes).toEqual([expect.stringMatching(/^This is not the same wallet as before \(xpub zpub/)]);
    expect(await stored(app)).toEqual([
      { kind: 'descriptor', source: wallet.source, inUse: false },
      expect.objectContaining({ kind: 'xpub', inUse: false }),
      { kind: 'descriptor', source: wallet.source, inUse: true },
    ]);
  });

  it('leaves the wallet of another project as that set it', async () => {
    const [app, other] = await Promise.all([testApp(), testApp()]);
    await set(other, descriptor(BARE));
    await set(app, descriptor(BARE));
    await set(app, descriptor(WHOLE));
    expect(await stored(other)).toEqual([expect.objectContaining({ source: expect.stringContaining(BARE) })]);
  });
});

describe('setting a wallet again', () => {
  it('says what else changes, and that nothing does where nothing does', async () => {
    const app = await testApp();
    const source = descriptor(WHOLE);
    expect((await set(app, source, { confirmations: 3, toleranceBasisPoints: 100 })).changes).toEqual([]);
    expect((await set(app, source, { confirmations: 3, toleranceBasisPoints: 100 })).changes).toEqual([
      'The wallet already had these settings.',
    ]);
    expect((await set(app, source)).changes).toEqual([
      'Confirmations from now on: the default for the amount (before: 3).',
      'Tolerance from now on: 0.5 % (before: 1 %).',
    ]);
    expect((await set(app, source, { toleranceBasisPoints: 50 })).changes).toEqual([
      'The wallet already had these settings.',
    ]);
  });

  it('with the treasury of the first deposit factory goes on with its numbers, at the new one', async () => {
    const app = await testApp();
    const treasury = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
    const source = { kind: 'treasury', text: treasury } as const;
    await set(app, source, { network: 'ethereum' });
    const [stored] = await app.db.selectFrom('wallets').selectAll().execute();
    expect(stored?.first_address).toBe(depositAddress(treasury, 0, FIRST_DEPOSIT_FACTORY));
    expect(await take(app, 'ethereum')).toBe(0);
    const { wallet, deriver } = await set(app, source, { network: 'ethereum' });
    expect(wallet).toMatchObject({ id: stored?.id, nextIndex: 1 });
    expect(deriver.addressAt(1)).toBe(depositAddress(treasury, 1));
  });

  it('lists of a treasury what was handed out for each number, by whichever factory', async () => {
    const app = await testApp();
    const treasury = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
    const { wallet } = await set(app, { kind: 'treasury', text: treasury }, { network: 'ethereum' });
    const old = [0, 1].map((index) => depositAddress(treasury, index, FIRST_DEPOSIT_FACTORY));
    for (const [index, address] of old.entries()) {
      const { id: paymentId } = await app.pay();
      await app.db
        .insertInto('payment_addresses')
        .values({
          network: 'ethereum',
          address: address.toLowerCase(),
          payment_id: paymentId,
          asset: 'ETH',
          decimals: 18,
          owed_units: '1',
          tolerance_units: '0',
          wallet_id: wallet.id,
          address_index: index,
          confirmations: 1,
          issued_at: new Date(app.clock()),
          watch_until: new Date(app.clock()),
        })
        .execute();
    }
    const first = await firstAddresses(app, createWalletOpener(MAIN_CHAINS), wallet, 4);
    expect(first).toEqual([...old, depositAddress(treasury, 2), depositAddress(treasury, 3)]);
  });

  it('with another treasury says so', async () => {
    const app = await testApp();
    const treasury = (digit: string) => ({ kind: 'treasury' as const, text: `0x${digit.repeat(40)}` });
    const first = await set(app, treasury('1'), { network: 'ethereum' });
    expect(first).toMatchObject({ changes: [], warnings: [expect.stringContaining('from number 0 on')] });
    const { changes } = await set(app, treasury('2'), { network: 'ethereum' });
    expect(changes).toEqual([expect.stringContaining(`not the same wallet as before (treasury 0x${'1'.repeat(40)})`)]);
  });
});

describe('a wallet that was used before', () => {
  it('hands out no address below its first unused one', async () => {
    const app = await testApp();
    const { wallet, changes } = await set(app, descriptor(WHOLE), { firstIndex: 120 });
    expect(wallet).toMatchObject({ nextIndex: 120, gap: 0 });
    expect(changes).toEqual(['The next address is number 120. Numbers 0 to 119 are skipped.']);
    expect([await take(app), await take(app)]).toEqual([120, 121]);
    const deriver = createWalletOpener(MAIN_CHAINS)('bitcoin', { kind: wallet.kind, text: wallet.source });
    expect(deriver?.addressAt(120)).toMatch(/^bc1q/);
  });

  it('never goes back below what was handed out, and says so', async () => {
    const app = await testApp();
    await set(app, descriptor(WHOLE), { firstIndex: 10 });
    expect(await take(app)).toBe(10);
    for (const firstIndex of [0, 10]) {
      const { wallet, changes } = await set(app, descriptor(WHOLE), { firstIndex });
      expect(wallet.nextIndex).toBe(11);
      expect(changes.at(-1)).toMatch(/^The next address is still number 11, .* A first index can only be raised\.$/);
    }
    expect((await set(app, descriptor(WHOLE), { firstIndex: 11 })).changes).toHaveLength(1);
    expect(await take(app)).toBe(11);
  });

  it.each([-1, 0.5, 100_000_001, Number.NaN])('is not begun at number %d', async (firstIndex) => {
    const app = await testApp();
    await expect(set(app, descriptor(WHOLE), { firstIndex })).rejects.toThrow('whole_number');
    expect(await stored(app)).toEqual([]);
  });

  it('is warned of as long as no address was handed out, unless its first unused one is given', async () => {
    const app = await testApp();
    const isWarned = async (more: Partial<WalletRequest> = {}): Promise<boolean> =>
      (await set(app, descriptor(WHOLE), more)).warnings.some((text) => /nothing else uses.*a first index/.test(text));
    expect(await isWarned()).toBe(true);
    expect(await isWarned({ firstIndex: 0 })).toBe(false);
    await take(app);
    expect(await isWarned()).toBe(false);
  });
});

describe('a treasury that another installation may have used', () => {
  it('is warned of as an account is, for each installation counts its deposits from 0 on', async () => {
    const app = await testApp();
    const treasury = { kind: 'treasury', text: `0x${'1'.repeat(40)}` } as const;
    const warned = [expect.stringMatching(/from number 0 on.*another installation.*a first index/)];
    expect((await set(app, treasury, { network: 'ethereum' })).warnings).toEqual(warned);
    expect((await set(app, treasury, { network: 'ethereum', firstIndex: 7 })).warnings).toEqual([]);
    expect((await set(app, treasury, { network: 'ethereum' })).warnings).toEqual([]);
  });
});

describe('what will not work when money is to go out again', () => {
  const MULTISIG = [1, 2].map((account) => publicKeyAt(`m/48'/0'/${account}'/2'`, 'xpub'));

  it.each([
    ['an extended key', { kind: 'xpub', text: ZPUB } as const, ['wpkh([fingerprint/84h/0h/0h]xpub…/<0;1>/*)']],
    [
      'a key of another kind of address',
      { kind: 'xpub', text: publicKeyAt("m/49'/0'/0'", 'ypub') } as const,
      ['sh(wpkh([fingerprint/49h/0h/0h]xpub…/<0;1>/*))'],
    ],
    ['a descriptor without origin', descriptor(`tr(${XPUB}/<0;1>/*)`), ['tr([fingerprint/86h/0h/0h]xpub…/<0;1>/*)']],
    ['a descriptor without change', descriptor(`pkh(${ORIGIN}${XPUB}/0/*)`), ['pkh([fingerprint/44h/0h/0h]xpub…']],
    ['a descriptor with neither', descriptor(BARE), ['will not sign', 'keeps its change']],
    [
      'one of several keys without origin',
      descriptor(`wsh(sortedmulti(2,[73c5da0a/48h/0h/1h/2h]${MULTISIG[0]}/<0;1>/*,${MULTISIG[1]}/<0;1>/*))`),
      ['wsh(sortedmulti(2,[fingerprint/48h/0h/0h/2h]xpub…/<0;1>/*,…))'],
    ],
    ['a whole descriptor', descriptor(WHOLE), []],
  ])('%s is refused with the way out', async (_name, source, expected) => {
    const app = await testApp();
    const { warnings } = await set(app, source, { firstIndex: 0 });
    expect(warnings).toEqual(expected.map((part) => expect.stringContaining(part)));
  });

  it('names the coin and the keys of the chain', async () => {
    const app = await testApp();
    const request = { projectId: app.projectId, confirmations: null, toleranceBasisPoints: null };
    const litecoin = await set(app, { kind: 'xpub', text: ZPUB }, { network: 'litecoin', firstIndex: 0 });
    expect(litecoin.warnings).toEqual([expect.stringContaining('wpkh([fingerprint/84h/2h/0h]xpub…/<0;1>/*)')]);
    const vpub = { kind: 'xpub', text: publicKeyAt("m/84'/1'/0'", 'vpub') } as const;
    const onTest = { ...request, network: 'bitcoin', source: vpub, firstIndex: 0 };
    const outcome = await setProjectWallet(app, onTest, { ...MAIN_CHAINS, bitcoin: 'testnet4' });
    expect(outcome).toMatchObject({
      warnings: [expect.stringContaining('wpkh([fingerprint/84h/1h/0h]tpub…/<0;1>/*)')],
    });
  });
});

it('a treasury that is the contract of a token is refused: nobody could move what is swept to it', async () => {
  const app = await testApp();
  const request = { projectId: app.projectId, network: 'ethereum', confirmations: null, toleranceBasisPoints: null };
  const source = { kind: 'treasury', text: '0xdAC17F958D2ee523a2206206994597C13D831ec7' } as const;
  const outcome = await setProjectWallet(app, { ...request, source }, MAIN_CHAINS);
  expect(outcome).toMatchObject({ kind: 'rejected', code: 'address_token', param: 'treasury' });
  expect(await stored(app)).toEqual([]);
});
