import { expect, it } from 'vitest';
import { databaseProxy } from '../../../test/database-proxy.ts';
import { newPayment, testApp } from '../../../test/harness.ts';
import type { PaymentApi } from '../../domain/payment.ts';
import { createPaymentCreator } from './create-payment.ts';

it.each<PaymentApi>(['order', 'transaction'])(
  'a batch of %ss that was saved without an answer fails, and is not saved again',
  async (api) => {
    const app = await testApp();
    const proxy = await databaseProxy(app.database);
    const handle = proxy.open(1_000);
    const creator = createPaymentCreator({ ...app, db: handle.db }, handle.pipeline);
    let made = 0;
    const create = () => {
      made += 1;
      const token = api === 'order' ? { asset: 'BTC', network: null } : null;
      const request = newPayment(app.projectId, { api, token, merchantOrderId: `SHOP-${made}` });
      return creator.create(request, (payment) => payment.id, null);
    };
    await create();
    proxy.silence('answers');
    const outcomes = await Promise.allSettled([create(), create(), create()]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    // On a connection that answers, so that what was tried again would have been saved.
    expect(await create()).toMatchObject({ kind: 'done' });
    const saved = await app.db
      .selectFrom('payments')
      .select('merchant_order_id')
      .orderBy('merchant_order_id')
      .execute();
    expect(saved.map((payment) => payment.merchant_order_id)).toEqual(
      api === 'order' ? ['SHOP-1', 'SHOP-2', 'SHOP-3', 'SHOP-4', 'SHOP-5'] : ['SHOP-1', 'SHOP-5'],
    );
  },
);
