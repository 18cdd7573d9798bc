import { randomUUID } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { p2pkh } from '@scure/btc-signer';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { DEADLINE_MS } from '../../../test/deadline.ts';
import { testApp, type TestApp } from '../../../test/harness.ts';
import type { Payment, Quote } from '../../domain/payment.ts';
import type { Network } from '../../domain/networks.ts';
import type { Mode } from '../../domain/permission.ts';
import { depositAddress, FIRST_DEPOSIT_FACTORY } from '../../rails/evm/deposit.ts';
import type { WalletSource } from '../../rails/family.ts';
import { MAIN_CHAINS } from '../../rails/utxo/params.ts';
import { addressesFrom, derivingWith } from '../../rails/derive-addresses.ts';
import { createWalletOpener } from '../../rails/wallet.ts';
import { account, xpubOf } from '../chains/follow-chain.fixture.ts';
import { createUnissuedWatch } from '../chains/unissued-watch.ts';
import { completeSandboxPayment } from '../payments/payment-actions.ts';
import type { Trx } from '../../store/database.ts';
import { claimRefund } from './change-refund.ts';
import { createRefund } from './create-refund.ts';
import { checkRefundAddress, refundAddress } from './refund-address.ts';
import { arrives, choose, dollars, tokenShop, transaction } from '../payments/token-shop.fixture.ts';
import { createProject } from '../projects/projects.ts';
import { setProjectWallet } from '../projects/wallets.ts';

const OWN_CONTRACT = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const CUSTOMER = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

const shop = () => tokenShop(({ asset }) => (asset === 'USDT' ? { chainId: 1, contract: OWN_CONTRACT } : null));

async function paidInTether(app: TestApp): Promise<Payment> {
  const payment = await transaction(app);
  const { address } = await choose(app, payment, 'USDT');
  return arrives(app, payment, address, 'USDT', dollars(30n), 'confirmed');
}

function refund(app: TestApp, payment: Payment, address: string | null) {
  const { projectId, mode, api, id: paymentId } = payment;
  return createRefund(app, { projectId, mode, api, paymentId, wanted: null, address, reason: null }, null);
}

/** The outcomes if the address is given with the refund, and if it is claimed; then of the customer's own address. */
async function outcomes(app: TestApp, payment: Payment, address: string): Promise<readonly object[]> {
  const given = await refund(app, payment, address);
  const open = await refund(app, payment, null);
  if (open.kind !== 'done') throw new Error(JSON.stringify(open));
  const claimed = await claimRefund(app, open.refund.id, address);
  const own = await claimRefund(app, open.refund.id, payment.mode === 'live' ? CUSTOMER : TEST_CUSTOMER);
  return [given, claimed, own];
}

function refusedFor(message: RegExp): readonly object[] {
  const refused = { kind: 'refused', param: 'address', message: expect.stringMatching(message), notYours: true };
  return [refused, refused, { kind: 'done' }];
}

/** Replaces the project's wallet on its network. */
async function setSource(app: TestApp, network: Network, source: WalletSource, projectId = app.projectId) {
  const terms = { confirmations: null, toleranceBasisPoints: null };
  const set = await setProjectWallet(app, { projectId, network, source, ...terms }, MAIN_CHAINS);
  if (set.kind !== 'done') throw new Error(JSON.stringify(set));
  return set.deriver;
}

const TREASURY: WalletSource = { kind: 'treasury', text: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' };
const ETHER_XPUB: WalletSource = { kind: 'xpub', text: xpubOf(account(7)) };
const keyOf = (purpose: number): string =>
  HDKey.fromMasterSeed(Buffer.alloc(32, 7)).derive(`m/${purpose}'/0'/0'`).publicExtendedKey;
const SEGWIT: WalletSource = { kind: 'descriptor', text: `wpkh(${keyOf(84)}/0/*)` };
const LEGACY: WalletSource = { kind: 'descriptor', text: `pkh(${keyOf(84)}/0/*)` };

async function nameInRefund(executor: TestApp['db'] | Trx, id: string, address: string): Promise<void> {
  const named = { address, watched_address: address.toLowerCase() };
  await executor.updateTable('refunds').set(named).where('id', '=', id).execute();
}

async function somebodyWaits({ db }: TestApp): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  return rows.length > 0;
}

/** The answer to a refund of this project to an address that was not handed out yet. */
const checkOf = (app: TestApp, network: Network, text: string, mode: Mode = 'live') =>
  checkRefundAddress(app, app.db, { projectId: app.projectId, mode, network, paymentId: randomUUID() }, text);

const TEST_CUSTOMER = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';

describe('a refund, and the claim of one,', () => {
  it.each([
    ['the token’s own contract, as the operator set it', OWN_CONTRACT],
    ['the contract of another token of the network', '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'],
    ['a precompiled contract', '0x0000000000000000000000000000000000000001'],
  ])('is refused to %s', async (_name, address) => {
    const { app } = await shop();
    expect(await outcomes(app, await paidInTether(app), address)).toMatchObject(
      refusedFor(/lost.*Give the address of your wallet/),
    );
  });

  it('is refused to the address that the payment was made to, in any spelling', async () => {
    const { app } = await shop();
    const payment = await paidInTether(app);
    const address = payment.quote?.address ?? '';
    expect(await outcomes(app, payment, address.toLowerCase())).toMatchObject(
      refusedFor(/The payment was sent to this address.*your own wallet/),
    );
  });

  it('is refused to an address of another payment', async () => {
    const { app } = await shop();
    const { quote } = await paidInTether(app);
    expect(await outcomes(app, await paidInTether(app), quote?.address ?? '')).toMatchObject(
      refusedFor(/receives payments.*your own wallet/),
    );
  });

  it('is refused to the treasury that the project’s deposits go to', async () => {
    const { app } = await shop();
    const treasury = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
    const set = await setProjectWallet(
      app,
      {
        projectId: app.projectId,
        network: 'ethereum',
        source: { kind: 'treasury', text: treasury },
        confirmations: null,
        toleranceBasisPoints: null,
      },
      MAIN_CHAINS,
    );
    expect(set.kind).toBe('done');
    expect(await outcomes(app, await paidInTether(app), treasury)).toMatchObject(
      refusedFor(/receives payments.*your own wallet/),
    );
  });

  it('is refused to a change address of a wallet here, and to a bitcoin address that was paid', async () => {
    const { app } = await shop();
    const xpub = HDKey.fromMasterSeed(Buffer.alloc(32, 7)).derive("m/84'/0'/0'").publicExtendedKey;
    const source = { kind: 'descriptor', text: `wpkh(${xpub}/0/*)` } as const;
    const terms = { confirmations: null, toleranceBasisPoints: null };
    await setProjectWallet(app, { projectId: app.projectId, network: 'bitcoin', source, ...terms }, MAIN_CHAINS);
    const order = await app.pay({ mode: 'live', amountMinor: 3_000n, token: { asset: 'BTC', network: null } });
    const address = order.quote?.address ?? '';
    const paid = await arrives(app, order, address, 'BTC', 50_000n, 'confirmed');
    const change = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
    await app.db
      .insertInto('change_addresses')
      .values({ network: 'bitcoin', address: change, first_change_address: change, change_index: 0 })
      .execute();
    expect(await refund(app, paid, address.toUpperCase())).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('The payment was sent to this address'),
    });
    expect(await refund(app, paid, change)).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('receives payments'),
    });
  });

  it.each([
    [1_000, 'of a treasury', 'ethereum', TREASURY],
    [1_000, 'that the first deposit factory would make', 'ethereum', TREASURY, FIRST_DEPOSIT_FACTORY],
    [100, 'of an Ethereum key', 'ethereum', ETHER_XPUB],
    [100, 'of a SegWit wallet', 'bitcoin', SEGWIT],
  ] as const)(
    'is refused to each of the next %d addresses %s, in any spelling',
    async (coming, _name, network, source, factory?) => {
      const { app } = await shop();
      const deriver = await setSource(app, network, source);
      const addressAt = (index: number) =>
        factory === undefined ? deriver.addressAt(index) : depositAddress(source.text, index, factory);
      const isHex = network === 'ethereum';
      const spellings = [
        (address: string) => ` ${address}\n`,
        (address: string) => (isHex || address.startsWith('bc1') ? address.toLowerCase() : address),
        (address: string) =>
          isHex ? `0x${address.slice(2).toUpperCase()}` : address.startsWith('bc1') ? address.toUpperCase() : address,
      ];
      const refused = async (index: number) => {
        const said = await checkOf(app, network, spellings[index % 3]?.(addressAt(index)) ?? '');
        return said.kind === 'invalid' && said.notYours;
      };
      let count = 0;
      for (let start = 0; start < coming; start += 10) {
        const ten = await Promise.all(Array.from({ length: 10 }, (_, place) => refused(start + place)));
        count += ten.filter((one) => one).length;
      }
      expect(count).toBe(coming);
      // Somebody else's wallet, as far as anybody knows.
      expect(await refused(coming)).toBe(false);
    },
  );

  it('is refused to what another project will hand out, on whichever network and in whichever mode', async () => {
    const { app } = await shop();
    const other = await createProject(app, 'Another shop');
    if (other.kind !== 'done') throw new Error(other.code);
    const deriver = await setSource(app, 'base', TREASURY, other.project.id);
    await createUnissuedWatch(app, { network: 'base' }, derivingWith(createWalletOpener(MAIN_CHAINS))).find([]);
    for (const mode of ['live', 'test'] as const) {
      expect(await checkOf(app, 'ethereum', deriver.addressAt(4_000), mode)).toMatchObject({ notYours: true });
    }
    const made = await app.pay({ token: { asset: 'ETH', network: null } });
    expect(await checkOf(app, 'ethereum', made.quote?.address.toLowerCase() ?? '')).toMatchObject({ notYours: true });
  });

  it('is never to an address that is handed out afterwards: its number is passed over', async () => {
    const { app } = await shop();
    const deriver = await setSource(app, 'ethereum', TREASURY);
    /** The refunds count as made before such addresses were refused. */
    const name = async (...indexes: readonly number[]) => {
      for (const index of indexes) {
        const made = await refund(app, await paidInTether(app), CUSTOMER);
        if (made.kind !== 'done') throw new Error(JSON.stringify(made));
        await nameInRefund(app.db, made.refund.id, deriver.addressAt(index));
      }
    };
    const own = addressesFrom(deriver, 0, 30);
    const indexOf = (quote: Quote | null) => own.indexOf(quote?.address ?? '');
    const order = () => app.pay({ mode: 'live', amountMinor: 3_000n, token: { asset: 'ETH', network: null } });
    await name(6, 8, 9);
    // These payments took the numbers from 0 to 2.
    const orders = await Promise.all(Array.from({ length: 5 }, order));
    expect(orders.map(({ quote }) => indexOf(quote)).toSorted((a, b) => a - b)).toEqual([3, 4, 5, 7, 10]);
    await name(13, 14);
    const chosen = [];
    for (let i = 0; i < 2; i += 1) chosen.push(await choose(app, await transaction(app), 'ETH'));
    expect(chosen.map(indexOf)).toEqual([15, 16]);
  });

  it('and the order that would get its address wait for each other', async () => {
    const { app } = await shop();
    const open = await refund(app, await paidInTether(app), null);
    if (open.kind !== 'done') throw new Error(JSON.stringify(open));
    // Another project's new wallet, of which nothing is watched yet.
    const other = await createProject(app, 'Another shop');
    if (other.kind !== 'done') throw new Error(other.code);
    const deriver = await setSource(app, 'ethereum', TREASURY, other.project.id);
    const order = () =>
      app.pay({
        projectId: other.project.id,
        mode: 'live',
        amountMinor: 3_000n,
        token: { asset: 'ETH', network: null },
      });
    const address = deriver.addressAt(0);
    const ordered = await app.db.transaction().execute(async (trx) => {
      expect(await refundAddress(app, trx, open.refund, address)).toMatchObject({ kind: 'ok' });
      const progress = { isDone: false };
      const under = order().finally(() => (progress.isDone = true));
      const isDecided = async () => progress.isDone || (await somebodyWaits(app));
      await expect.poll(isDecided, { timeout: DEADLINE_MS, interval: 20 }).toBe(true);
      await nameInRefund(trx, open.refund.id, address);
      return { under };
    });
    expect((await ordered.under).quote?.address).toBe(deriver.addressAt(1));
    const next = await order();
    expect(await refund(app, await paidInTether(app), next.quote?.address ?? '')).toMatchObject({ notYours: true });
  });

  it('to an address of another kind of the same key keeps that from orders, once the wallet makes such addresses', async () => {
    const { app } = await shop();
    await setSource(app, 'bitcoin', SEGWIT);
    const order = () => app.pay({ mode: 'live', amountMinor: 3_000n, token: { asset: 'BTC', network: null } });
    const made = await order();
    const paid = await arrives(app, made, made.quote?.address ?? '', 'BTC', 50_000n, 'confirmed');
    const key = HDKey.fromMasterSeed(Buffer.alloc(32, 7)).derive("m/84'/0'/0'/0/0").publicKey ?? Buffer.alloc(0);
    const legacy = p2pkh(key).address ?? '';
    expect(await refund(app, paid, legacy)).toMatchObject({ kind: 'done' });
    const deriver = await setSource(app, 'bitcoin', LEGACY);
    expect(deriver.addressAt(0)).toBe(legacy);
    expect((await order()).quote?.address).toBe(deriver.addressAt(1));
  });

  it('is refused in test mode too to the address that the payment was made to', async () => {
    const app = await testApp();
    const order = await app.pay({ token: { asset: 'BTC', network: null } });
    await completeSandboxPayment(app, { id: order.id });
    const paid = await app.read(order.id);
    expect(await outcomes(app, paid, paid.quote?.address ?? '')).toMatchObject(
      refusedFor(/The payment was sent to this address.*your own wallet/),
    );
  });
});
