import { HDKey } from '@scure/bip32';
import { describe, expect, it } from 'vitest';
import { newPayment, testApp, type TestApp } from '../../test/harness.ts';
import { parseEvmXpub } from '../rails/evm/wallet.ts';
import { MAIN_CHAINS } from '../rails/utxo/params.ts';
import { fixedRates, parseFixedRates } from '../rates/fixed.ts';
import { account, CONFIRMATIONS, etherRail, liveOrder, setWallet, xpubOf } from '../app/chains/follow-chain.fixture.ts';
import { selectToken } from '../app/payments/payment-actions.ts';
import { isRejected, refusalText } from '../app/rejected.ts';
import { refusalMessage } from '../cli/refusal.ts';
import { messageOf } from '../http/ways-out.ts';
import { createProject } from '../app/projects/projects.ts';
import { setProjectWallet, walletsOf, type WalletRequest } from '../app/projects/wallets.ts';

/**
 * An application whose live rail has the prices that an operator fixed, and no node: none is needed to issue addresses.
 */
function liveApp(prices = 'ETH=3000'): Promise<TestApp> {
  const rates = parseFixedRates(prices);
  if (rates.kind === 'invalid') throw new Error(rates.message);
  return testApp({ live: (database) => etherRail(database.db, fixedRates(rates.prices)) });
}

function create(app: TestApp, projectId = app.projectId, asset = 'ETH') {
  const order = liveOrder(projectId, { token: { asset, network: null } });
  return app.creator.create(order, (payment) => payment.quote?.address ?? '', null);
}

async function newProject(app: TestApp): Promise<string> {
  const outcome = await createProject(app, 'Another shop');
  if (outcome.kind !== 'done') throw new Error(outcome.code);
  return outcome.project.id;
}

function walletRequest(app: TestApp, overrides: Partial<WalletRequest> = {}): WalletRequest {
  return {
    projectId: app.projectId,
    network: 'ethereum',
    source: { kind: 'xpub', text: xpubOf(account()) },
    confirmations: null,
    toleranceBasisPoints: null,
    ...overrides,
  };
}

function addressesOf(xpub: string, count: number): readonly string[] {
  const parsed = parseEvmXpub(xpub);
  if (parsed.kind === 'invalid') throw new Error(refusalText(parsed.fault));
  return Array.from({ length: count }, (_, index) => parsed.deriver.addressAt(index));
}

describe('a wallet', () => {
  it('is set by an extended public key, and shows the first addresses to compare', async () => {
    const app = await liveApp();
    const xpub = xpubOf(account());
    const outcome = await setProjectWallet(
      app,
      walletRequest(app, { source: { kind: 'xpub', text: ` ${xpub} ` }, confirmations: 5, toleranceBasisPoints: 100 }),
      MAIN_CHAINS,
    );
    expect(outcome).toMatchObject({
      kind: 'done',
      wallet: {
        network: 'ethereum',
        kind: 'xpub',
        source: xpub,
        confirmations: 5,
        toleranceBasisPoints: 100,
        nextIndex: 0,
      },
    });
    expect(outcome.kind === 'done' && outcome.deriver.addressAt(2)).toBe(addressesOf(xpub, 3)[2]);
  });

  it.each([
    ['an extended private key', account().privateExtendedKey],
    ['a private key', Buffer.from(account().privateKey ?? []).toString('hex')],
    ['a recovery phrase', 'test test test test test test test test test test test junk'],
  ])('is never set by %s: it is refused, repeated nowhere and stored nowhere', async (name, secret) => {
    const app = await liveApp();
    const request = walletRequest(app, { source: { kind: 'xpub', text: secret } });
    const outcome = await setProjectWallet(app, request, MAIN_CHAINS);
    if (outcome.kind !== 'rejected') throw new Error('it was taken');
    expect(refusalMessage(outcome)).toContain(`This is ${name}`);
    expect(JSON.stringify(outcome)).not.toContain(secret);
    for (const table of ['wallets', 'address_indexes'] as const) {
      expect(await app.db.selectFrom(table).selectAll().execute()).toEqual([]);
    }
  });

  it.each([
    [{ network: 'dogecoin' }, /--network must be one of bitcoin, ethereum, litecoin/],
    [{ source: { kind: 'descriptor', text: 'wpkh(xpub)' } }, /--descriptor: .*Give a treasury or an extended key/],
    [
      { network: 'bitcoin', source: { kind: 'treasury', text: '0x0' } },
      /--treasury: .*Give an extended key or a descriptor/,
    ],
    [
      {
        source: {
          kind: 'xpub',
          text: 'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs',
        },
      },
      /--xpub: This is a Bitcoin key/,
    ],
    [{ confirmations: 0 }, /--confirmations must be a whole number from 1 to 10000/],
    [{ confirmations: 1.5 }, /--confirmations/],
    [{ confirmations: 10_001 }, /--confirmations/],
    [{ toleranceBasisPoints: 1_001 }, /--tolerance must be a percentage from 0 to 10/],
    [{ projectId: '01890000-0000-7000-8000-000000000000' }, /There is no project/],
  ] as const satisfies readonly (readonly [Partial<WalletRequest>, RegExp])[])(
    'that cannot be is refused with the way out: %o',
    async (wrong, message) => {
      const app = await liveApp();
      const outcome = await setProjectWallet(app, walletRequest(app, wrong), MAIN_CHAINS);
      expect(isRejected(outcome) && refusalMessage(outcome)).toMatch(message);
      expect(await app.db.selectFrom('wallets').selectAll().execute()).toEqual([]);
    },
  );

  it('that is set again keeps its addresses’ numbers, also after another one in between', async () => {
    const app = await liveApp();
    const [first, second] = [xpubOf(account(1)), xpubOf(account(2))];
    const issued: string[] = [];
    for (const xpub of [first, first, second, first]) {
      await setWallet(app, app.projectId, xpub);
      const outcome = await create(app);
      issued.push(outcome.kind === 'done' ? outcome.body : outcome.kind);
    }
    const ofFirst = addressesOf(first, 3);
    expect(issued).toEqual([ofFirst[0], ofFirst[1], addressesOf(second, 1)[0], ofFirst[2]]);
    expect(await walletsOf(app, app.projectId)).toMatchObject({ wallets: [{ source: first, nextIndex: 3 }] });
  });
});

describe('a live order', () => {
  it('owes the amount at the fixed rate, rounded up at the eighth decimal', async () => {
    const app = await liveApp('ETH=2999.5,EUR=1.1');
    await setWallet(app, app.projectId);
    const order = await app.pay(liveOrder(app.projectId, { amountMinor: 10_000n, currency: 'EUR' }));
    // 110 USD at 2,999.50 is 0.036672778…
    expect(order).toMatchObject({
      status: 'pending',
      completesAt: null,
      amountUsdCents: 11_000n,
      quote: { asset: 'ETH', network: 'ethereum', decimals: 18, owedUnits: 36_672_780_000_000_000n },
    });
    expect(order.quote?.toleranceUnits).toBe(36_672_780_000_000_000n / 200n);
  });

  it('gets a fresh address of the wallet, watched from the moment it is saved', async () => {
    const app = await liveApp();
    await setWallet(app, app.projectId);
    const order = await app.pay(liveOrder(app.projectId));
    expect(order.quote?.address).toBe(addressesOf(xpubOf(account()), 1)[0]);
    const rows = await app.db.selectFrom('payment_addresses').selectAll().execute();
    expect(rows).toEqual([
      expect.objectContaining({
        network: 'ethereum',
        address: order.quote?.address.toLowerCase(),
        payment_id: order.id,
        address_index: 0,
        owed_units: order.quote?.owedUnits,
        watch_until: order.expiresAt + app.policy.monitoringMs,
        confirmations: CONFIRMATIONS,
      }),
    ]);
  });

  it('never gets another’s address, under 50 creations at once by two projects that share one key', async () => {
    const app = await liveApp();
    const other = await newProject(app);
    for (const projectId of [app.projectId, other]) await setWallet(app, projectId);
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, number) => create(app, number % 2 === 0 ? app.projectId : other)),
    );
    const addresses = outcomes.map((outcome) => (outcome.kind === 'done' ? outcome.body : outcome.kind));
    expect(addresses.toSorted()).toEqual([...addressesOf(xpubOf(account()), 50)].toSorted());
  });

  it('is refused on crypto_currency without a wallet, saying what to set', async () => {
    const app = await liveApp();
    expect(await create(app)).toMatchObject({
      kind: 'refused',
      param: 'crypto_currency',
      wayOut: { kind: 'set_up', projectId: app.projectId, network: 'ethereum' },
    });
    expect(await app.db.selectFrom('payments').selectAll().execute()).toEqual([]);
  });

  it('is refused for its token, not for want of a price, whatever its currency', async () => {
    const app = await liveApp();
    const order = liveOrder(app.projectId, { currency: 'EUR' });
    const refused = { kind: 'refused', param: 'crypto_currency' };
    expect(await app.creator.create(order, ({ id }) => id, null)).toMatchObject(refused);
    await setWallet(app, app.projectId);
    const unknown = { ...order, token: { asset: 'DOGE', network: null } };
    expect(await app.creator.create(unknown, ({ id }) => id, null)).toMatchObject(refused);
    expect(await app.creator.create(order, ({ id }) => id, null)).toMatchObject({ kind: 'no_rate' });
  });

  it('is refused, saying what to set, where the wallet was set for another chain of the network', async () => {
    const app = await liveApp();
    await setWallet(app, app.projectId);
    await app.db.updateTable('wallets').set({ source: 'tpub-of-a-test-chain' }).execute();
    expect(await create(app)).toMatchObject({
      kind: 'refused',
      param: 'crypto_currency',
      message: expect.stringMatching(
        /set for another chain of ethereum\. Set ETHEREUM_CHAIN as it was, or set the wallet/,
      ),
    });
  });

  it.each(['BTC', 'USDT', 'DOGE'])('in %s, which has no wallet, is refused on crypto_currency', async (asset) => {
    const app = await liveApp();
    await setWallet(app, app.projectId);
    expect(await create(app, app.projectId, asset)).toMatchObject({ kind: 'refused', param: 'crypto_currency' });
  });

  it.each([
    [
      { asset: 'DOGE', network: null },
      'crypto_currency must be one of BTC, ETH, USDT, USDC, LTC, but the project cannot be paid in any of them yet. ' +
        'Set a wallet for the project (cointill wallet set --project ID --network NETWORK --xpub XPUB) ' +
        "and a node for the service (the network's *_RPC_URL, such as BITCOIN_RPC_URL).",
    ],
    [
      { asset: 'USDT', network: 'tron' },
      'network is not known, and USDT cannot be paid on any network yet. ' +
        'Set a wallet for the project (cointill wallet set --project ID --network ethereum --treasury 0x… or --xpub XPUB) ' +
        'and a node for the service (ETHEREUM_RPC_URL; on a chain of your own also ETHEREUM_TOKENS).',
    ],
    [
      { asset: 'BTC', network: 'ethereum' },
      'BTC cannot be paid on ethereum, and BTC cannot be paid on any network yet. ' +
        'Set a wallet for the project (cointill wallet set --project ID --network bitcoin --xpub XPUB) ' +
        'and a node for the service (BITCOIN_RPC_URL).',
    ],
  ])('of a project without a wallet is told in whole sentences what to set: %o', async (token, message) => {
    const app = await liveApp();
    const outcome = await app.creator.create(liveOrder(app.projectId, { token }), ({ id }) => id, null);
    expect(outcome.kind === 'refused' && messageOf(outcome)).toBe(message.replace('ID', app.projectId));
  });

  it('on an unknown network is refused with the networks of its asset', async () => {
    const app = await liveApp();
    await setWallet(app, app.projectId);
    const order = liveOrder(app.projectId, { token: { asset: 'ETH', network: 'tron' } });
    expect(await app.creator.create(order, ({ id }) => id, null)).toMatchObject({
      kind: 'refused',
      param: 'network',
      message: 'network is not known. ETH can be paid on ethereum.',
    });
  });

  it('without a rate is not priced at all: no_rate, and no address is used up', async () => {
    const app = await liveApp('BTC=60000');
    await setWallet(app, app.projectId);
    expect(await create(app)).toMatchObject({ kind: 'no_rate', message: expect.stringContaining('ETH') });
    expect(await walletsOf(app, app.projectId)).toMatchObject({ wallets: [{ nextIndex: 0 }] });
  });
});

describe('a live transaction', () => {
  it('is created without a wallet, and takes an address only once its token is chosen', async () => {
    const app = await liveApp();
    const request = newPayment(app.projectId, { mode: 'live', api: 'transaction', token: null });
    const transaction = await app.pay(request);
    expect(transaction).toMatchObject({ status: 'created', quote: null, completesAt: null });
    const eth = { asset: 'ETH', network: null };
    expect(await selectToken(app, { id: transaction.id }, eth)).toMatchObject({ kind: 'refused' });
    await setWallet(app, app.projectId);
    expect(await selectToken(app, { id: transaction.id }, eth)).toMatchObject({
      kind: 'changed',
      payment: { status: 'pending', quote: { address: addressesOf(xpubOf(account()), 1)[0] } },
    });
  });

  it('gets its address also when more customers choose at once than there are connections', async () => {
    const app = await liveApp();
    await setWallet(app, app.projectId);
    const request = newPayment(app.projectId, { mode: 'live', api: 'transaction', token: null });
    const transactions = await Promise.all(Array.from({ length: 30 }, () => app.pay(request)));
    const outcomes = await Promise.all(
      transactions.map(({ id }) => selectToken(app, { id }, { asset: 'ETH', network: null })),
    );
    expect(outcomes.map(({ kind }) => kind)).toEqual(transactions.map(() => 'changed'));
    const rows = await app.db.selectFrom('payment_addresses').select('address').execute();
    expect(new Set(rows.map((row) => row.address)).size).toBe(30);
  });

  it('uses no address up where the choice is refused', async () => {
    const app = await liveApp();
    await setWallet(app, app.projectId);
    const transaction = await app.pay({ mode: 'live', api: 'transaction', token: null });
    app.clock.set(transaction.expiresAt);
    const outcome = await selectToken(app, { id: transaction.id }, { asset: 'ETH', network: null });
    expect(outcome).toMatchObject({ kind: 'refused', reason: 'expired' });
    expect(await walletsOf(app, app.projectId)).toMatchObject({ wallets: [{ nextIndex: 0 }] });
  });

  it('never gets another’s address where the same key was set in two forms', async () => {
    const app = await liveApp();
    const other = await newProject(app);
    const whole = account();
    const chain = whole.deriveChild(0);
    const nameless = new HDKey({ ...parts(chain), depth: 4, index: 0, parentFingerprint: 0 });
    await setWallet(app, app.projectId, xpubOf(whole));
    await setWallet(app, other, xpubOf(chain));
    const addresses: string[] = [];
    for (const projectId of [app.projectId, other, app.projectId, other]) {
      const outcome = await create(app, projectId);
      addresses.push(outcome.kind === 'done' ? outcome.body : outcome.kind);
    }
    await setWallet(app, other, xpubOf(nameless));
    const last = await create(app, other);
    expect([...addresses, last.kind === 'done' ? last.body : last.kind]).toEqual(addressesOf(xpubOf(whole), 5));
  });
});

function parts({ publicKey, chainCode }: HDKey): { readonly publicKey: Uint8Array; readonly chainCode: Uint8Array } {
  if (publicKey === null || chainCode === null) throw new Error('the key has no public part');
  return { publicKey, chainCode };
}
