import { afterAll, describe, expect, it } from 'vitest';
import { createdInvoice, greenfield, type Invoice } from '../greenfield/store.ts';
import { httpTest, type Shop } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());
const call = greenfield(http);

/** An invoice of an order of 50 EUR that was paid so. */
async function paid(shop: Shop, orderId: string, outcome = 'paid', currency = 'EUR'): Promise<Invoice> {
  const invoice = await createdInvoice(call, shop, { amount: 50, currency, metadata: { orderId } });
  await shop.call({ path: `/v1/invoices/${invoice.id}/simulate`, body: { outcome } });
  return invoice;
}

const pull = (shop: Shop, name: unknown, amount: unknown = '10.00', currency = 'EUR') =>
  call<Record<string, unknown>>(shop, {
    path: '/pull-payments',
    body: { name, amount, currency, autoApproveClaims: false, paymentMethods: ['BTC_CHAIN'] },
  });

const refundsOf = async (shop: Shop, { id }: Invoice) =>
  (await shop.call<{ data: { amount: number }[] }>({ path: `/v1/refunds?invoice_id=${id}` })).body.data;

describe('a refund of WooCommerce, which names the order alone', () => {
  it('belongs to the invoice of the order that has money, and leads to our page', async () => {
    const shop = await http.shop();
    await createdInvoice(call, shop, { metadata: { orderId: '123' } });
    const invoice = await paid(shop, '123');
    await paid(shop, '1234');
    const { status, body } = await pull(shop, 'Refund of order 123; did not fit; sorry');
    expect([status, body]).toEqual([
      200,
      {
        id: expect.stringMatching(/^re_/),
        name: 'Refund of order 123; did not fit; sorry',
        description: 'did not fit; sorry',
        amount: '10',
        currency: 'EUR',
        period: null,
        BOLT11Expiration: 30,
        autoApproveClaims: false,
        archived: false,
        viewLink: expect.stringMatching(/^https:\/\/sandbox\.pay\.example\/refund\/re_/),
      },
    ]);
    expect(await refundsOf(shop, invoice)).toEqual([expect.objectContaining({ amount: 10 })]);
  });

  it.each(['Erstattung der Bestellung 123; passt nicht', 'Refund of order #123; x', '123', 'Refund of order 123'])(
    'is read in every language: %s',
    async (name) => {
      const shop = await http.shop();
      await paid(shop, '123');
      expect((await pull(shop, name)).status).toBe(200);
    },
  );

  it.each([
    ['no such order', 'Refund of order 9; x', '10', 'EUR'],
    ['another currency', 'Refund of order 123; x', '10', 'USD'],
    ['no order', '; x', '10', 'EUR'],
    ['no name', null, '10', 'EUR'],
  ])('of %s is a 422 that says what to do', async (_what, name, amount, currency) => {
    const shop = await http.shop();
    const invoice = await paid(shop, '123');
    const { status, body } = await pull(shop, name, amount, currency);
    expect([status, body]).toEqual([422, [{ path: 'name', message: expect.stringContaining('dashboard') }]]);
    expect(await refundsOf(shop, invoice)).toEqual([]);
  });

  it('is never taken from another order: whose number ends it, or the beginning of one that was cut off', async () => {
    const shop = await http.shop();
    const [ninety, other] = [await paid(shop, '90'), await paid(shop, 'B 90')];
    const unpaid = await createdInvoice(call, shop, { metadata: { orderId: 'C 90' } });
    expect((await pull(shop, 'Refund of order B 90; x')).status).toBe(200);
    expect([await refundsOf(shop, ninety), await refundsOf(shop, other)]).toEqual([[], [expect.anything()]]);
    expect((await pull(shop, 'Refund of order C 90; x')).status).toBe(422);
    expect(await refundsOf(shop, unpaid)).toEqual([]);
    const cut = 'Возврат средств по заказу 90';
    expect((await pull(shop, cut)).body).toEqual([{ path: 'name', message: expect.stringContaining('name must') }]);
  });

  it('of two invoices with money is refused, and one by its invoice is possible', async () => {
    const shop = await http.shop();
    const [one] = [await paid(shop, '123'), await paid(shop, '123')];
    const { status, body } = await pull(shop, 'Refund of order 123; x');
    expect([status, body]).toEqual([422, [{ path: 'name', message: expect.stringContaining('More than one') }]]);
    const named = await call(shop, { path: `/invoices/${one.id}/refund`, body: { refundVariant: 'RateThen' } });
    expect(named.body).toMatchObject({ amount: '50', name: 'Refund of 123' });
  });

  it('of more than came is refused, also by two at once', async () => {
    const shop = await http.shop();
    const invoice = await paid(shop, '123');
    const tooMuch = await pull(shop, 'Refund of order 123; x', '50.01');
    expect([tooMuch.status, tooMuch.body]).toEqual([422, [{ path: 'amount', message: expect.any(String) }]]);
    const both = await Promise.all([1, 2].map(() => pull(shop, 'Refund of order 123; x', '30')));
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 422]));
    expect(await refundsOf(shop, invoice)).toHaveLength(1);
  });

  it.each([null, 0, '-1', '1e3', '1.001', {}])('of the amount %j is refused', async (amount) => {
    const shop = await http.shop();
    await paid(shop, '123');
    const { status, body } = await pull(shop, 'Refund of order 123; x', amount);
    expect([status, body]).toEqual([422, [{ path: 'amount', message: expect.stringContaining('amount') }]]);
  });

  it('needs the permission of refunds', async () => {
    const shop = await http.shop();
    const as = { permission: null, scopes: ['payments:change'] } as const;
    expect((await call(shop, { as, path: '/pull-payments', body: {} })).status).toBe(403);
  });
});

describe('a refund of one invoice', () => {
  const refund = (shop: Shop, { id }: Invoice, body: object) =>
    call<Record<string, unknown>>(shop, { path: `/invoices/${id}/refund`, body });

  it('returns what its variant says, never more than came', async () => {
    const shop = await http.shop();
    expect((await refund(shop, await paid(shop, '1'), { refundVariant: 'CurrentRate' })).body).toMatchObject({
      amount: expect.stringMatching(/^(50|49\.99)$/),
    });
    const custom = { refundVariant: 'Custom', customAmount: '12.5', customCurrency: 'EUR', description: 'late' };
    expect((await refund(shop, await paid(shop, '2'), custom)).body).toMatchObject({
      amount: '12.5',
      description: 'late',
    });
    const over = await paid(shop, '3', 'over');
    expect((await refund(shop, over, { refundVariant: 'OverpaidAmount' })).body).toMatchObject({
      amount: expect.stringMatching(/^25\.\d+$/),
    });
    const again = await refund(shop, over, { refundVariant: 'OverpaidAmount' });
    expect([again.status, again.body]).toEqual([422, [{ path: 'refundVariant', message: expect.any(String) }]]);
  });

  it.each([
    ['refundVariant', {}],
    ['refundVariant', { refundVariant: 'Fiat' }],
    ['refundVariant', { refundVariant: 'OverpaidAmount' }],
    ['subtractPercentage', { refundVariant: 'RateThen', subtractPercentage: 5 }],
    ['customCurrency', { refundVariant: 'Custom', customAmount: 1, customCurrency: 'USD' }],
    ['customAmount', { refundVariant: 'Custom' }],
    ['name', { refundVariant: 'RateThen', name: 'x'.repeat(501) }],
  ])('with a bad %s is a 422 that names it', async (path, body) => {
    const shop = await http.shop();
    const invoice = await paid(shop, '1');
    const refused = await refund(shop, invoice, body);
    expect([refused.status, refused.body]).toEqual([422, [{ path, message: expect.stringContaining('') }]]);
    expect(await refundsOf(shop, invoice)).toEqual([]);
  });

  it('without money is refused, and of an unknown invoice a 404', async () => {
    const shop = await http.shop();
    const open = await createdInvoice(call, shop);
    expect((await refund(shop, open, { refundVariant: 'RateThen' })).status).toBe(422);
    expect((await refund(shop, { ...open, id: 'inv_x' }, { refundVariant: 'RateThen' })).status).toBe(404);
  });
});
