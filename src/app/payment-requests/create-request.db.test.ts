import { describe, expect, it } from 'vitest';
import { requestUrl } from '../../wire/payment-request.ts';
import { liveShop } from '../payments/live-shop.fixture.ts';
import { createRequest, type NewRequest } from './create-request.ts';
import { issue, withSeller } from './invoices.fixture.ts';

const LIVE = { mode: 'live' } as const;
type App = Awaited<ReturnType<typeof liveShop>>;

function create(app: App, change: Partial<NewRequest> = {}) {
  const bounds = { minAmountMinor: null, maxAmountMinor: null, maxPayments: 1, expiresAt: null };
  const texts = { title: 'Deposit', description: null, reference: null, successUrl: null, metadata: null };
  const asks = { askEmail: false, askName: false, askNote: false };
  const money = { ...LIVE, amountMinor: 100n, currency: 'EUR', coins: null } as const;
  return createRequest(app, { projectId: app.projectId, ...money, ...bounds, ...texts, ...asks, ...change }, null);
}

const NOBODY_PAYS = { kind: 'refused', param: 'coins', sentence: { code: 'no_coins' } };

describe('in live mode, a project without a wallet', () => {
  it.each([{}, { coins: ['BTC'] }])('makes no payment request with %j, because nobody could pay it', async (change) => {
    const app = await liveShop({ wallets: false });
    const refused = await create(app, change);
    expect(refused).toMatchObject(NOBODY_PAYS);
    expect(refused).toMatchObject({ message: expect.stringMatching(/any (coin|of coins)\. It has no wallet yet\.$/) });
    expect(await app.db.selectFrom('payment_requests').select('id').execute()).toEqual([]);
  });

  it('issues no invoice, and uses no number', async () => {
    const app = await liveShop({ wallets: false });
    await withSeller(app);
    expect(await issue(app, LIVE)).toMatchObject(NOBODY_PAYS);
    expect(await app.db.selectFrom('invoice_counters').select('last').execute()).toEqual([]);
    expect(await issue(app)).toMatchObject({ kind: 'done' });
  });

  it('makes both once it has a wallet', async () => {
    const app = await liveShop();
    await withSeller(app);
    const made = await create(app);
    if (made.kind !== 'done') throw new Error(JSON.stringify(made));
    expect(requestUrl(made.request, app.links)).toMatch(/^https:\/\/pay\.example\/request\/req_/);
    expect(await issue(app, LIVE)).toMatchObject({ kind: 'done' });
    expect(await create(app, { coins: ['LTC'] })).toMatchObject({
      kind: 'refused',
      param: 'coins',
      message: expect.stringMatching(/It offers BTC\/bitcoin/),
    });
  });
});
