import { HDKey } from '@scure/bip32';
import { describe, expect, it } from 'vitest';
import type { TestApp } from '../../../test/harness.ts';
import type { Payment } from '../../domain/payment.ts';
import { MAIN_CHAINS } from '../../rails/utxo/params.ts';
import { cancelPayment } from '../payments/payment-actions.ts';
import { createRefund, type NewRefund } from './create-refund.ts';
import { arrives, choose, dollars, tokenShop, transaction } from '../payments/token-shop.fixture.ts';
import { setProjectWallet } from '../projects/wallets.ts';

function refund(app: TestApp, payment: Payment, wanted: NewRefund['wanted']) {
  const { projectId, mode, api, id: paymentId } = payment;
  return createRefund(app, { projectId, mode, api, paymentId, wanted, address: null, reason: null }, null);
}

describe('a live refund', () => {
  it('of less than the network passes on is refused, naming the least', async () => {
    const { app } = await tokenShop();
    const xpub = HDKey.fromMasterSeed(Buffer.alloc(32, 7)).derive("m/84'/0'/0'").publicExtendedKey;
    const source = { kind: 'descriptor', text: `wpkh(${xpub}/0/*)` } as const;
    const terms = { confirmations: null, toleranceBasisPoints: null };
    const set = await setProjectWallet(
      app,
      { projectId: app.projectId, network: 'bitcoin', source, ...terms },
      MAIN_CHAINS,
    );
    expect(set.kind).toBe('done');
    const order = await app.pay({ mode: 'live', amountMinor: 3_000n, token: { asset: 'BTC', network: null } });
    const paid = await arrives(app, order, order.quote?.address ?? '', 'BTC', 50_000n, 'confirmed');
    expect(paid).toMatchObject({ status: 'completed', exception: 'none' });
    expect(await refund(app, paid, { cryptoAmount: '0.00000545' })).toMatchObject({
      kind: 'refused',
      param: 'crypto_amount',
      message:
        'crypto_amount is too small to send (0.00000545 BTC). The network does not forward less than 0.00000546 BTC.',
    });
    expect(await refund(app, paid, { amountMinor: 17n })).toMatchObject({ kind: 'refused', param: 'amount' });
    expect(await refund(app, paid, { cryptoAmount: '0.00000546' })).toMatchObject({ kind: 'done' });
    expect(await refund(app, paid, { cryptoAmount: '0.00048909' })).toMatchObject({ kind: 'done' });
    // The rest is dust as well.
    expect(await refund(app, paid, null)).toMatchObject({ kind: 'refused', param: null });
  });

  it('in one token takes nothing from what came in another', async () => {
    const { app } = await tokenShop();
    const payment = await transaction(app);
    const ether = await choose(app, payment, 'ETH');
    const { address } = await choose(app, payment, 'USDT');
    await cancelPayment(app, { id: payment.id });
    const late = await arrives(app, payment, address, 'USDT', dollars(15n), 'confirmed');
    expect(late).toMatchObject({ status: 'cancelled', exception: 'paid_late', quote: { asset: 'USDT' } });
    expect(await refund(app, late, null)).toMatchObject({
      kind: 'done',
      refund: { asset: 'USDT', units: dollars(15n) },
    });
    const whole = await arrives(app, payment, address, 'ETH', ether.owedUnits, 'confirmed');
    expect(whole).toMatchObject({ status: 'cancelled', quote: { asset: 'ETH' } });
    expect(await refund(app, whole, null)).toMatchObject({
      kind: 'done',
      refund: { asset: 'ETH', units: ether.owedUnits, amountMinor: 3_000n },
    });
  });
});
