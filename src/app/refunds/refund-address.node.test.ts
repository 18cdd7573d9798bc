import { HDKey } from '@scure/bip32';
import { describe, expect, it } from 'vitest';
import { testApp, type TestApp } from '../../../test/harness.ts';
import type { Payment } from '../../domain/payment.ts';
import { MAIN_CHAINS } from '../../rails/utxo/params.ts';
import { completeSandboxPayment } from '../payments/payment-actions.ts';
import { claimRefund } from './claim-refund.ts';
import { createRefund } from './create-refund.ts';
import { arrives, choose, dollars, tokenShop, transaction } from '../payments/token-shop.fixture.ts';
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
  const { projectId, mode, surface, id: paymentId } = payment;
  return createRefund(app, { projectId, mode, surface, paymentId, wanted: null, address, reason: null }, null);
}

/** What comes of the address when it is given with the refund, and when it is claimed; then of the customer's own. */
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
      refusedFor(/address that the payment was made to.*your own wallet/),
    );
  });

  it('is refused to an address of another payment', async () => {
    const { app } = await shop();
    const { quote } = await paidInTether(app);
    expect(await outcomes(app, await paidInTether(app), quote?.address ?? '')).toMatchObject(
      refusedFor(/takes payments.*your own wallet/),
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
      refusedFor(/takes payments.*your own wallet/),
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
      message: expect.stringContaining('the payment was made to'),
    });
    expect(await refund(app, paid, change)).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('takes payments'),
    });
  });

  it('is refused in test mode too to the address that the payment was made to', async () => {
    const app = await testApp();
    const order = await app.pay({ token: { asset: 'BTC', network: null } });
    await completeSandboxPayment(app, { id: order.id });
    const paid = await app.read(order.id);
    expect(await outcomes(app, paid, paid.quote?.address ?? '')).toMatchObject(
      refusedFor(/address that the payment was made to.*your own wallet/),
    );
  });
});
