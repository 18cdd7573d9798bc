import { createHmac } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import {
  deliverAll,
  shop as receiver,
  webhookApp,
  type Shop as Receiver,
} from '../../src/app/webhooks/webhooks.fixture.ts';
import { greenfield, type Invoice } from '../greenfield/store.ts';
import { httpTest, type Shop } from '../http.ts';

/*
 * Requests in the form of each plugin, and the parts of answers and messages that it reads, in its order.
 */

const http = await httpTest();
afterAll(() => http.close());
const call = greenfield(http);

interface Message {
  readonly type: string;
  readonly invoiceId: string;
  readonly [name: string]: unknown;
}

/** Sends what is due, and returns the messages that arrived, each with the signature checked as plugins check it. */
async function messages(hook: Receiver, secret: string): Promise<readonly Message[]> {
  const webhooks = await webhookApp({ app: http.app, sealingKeys: http.webhooks.sealingKeys });
  await deliverAll(http.app, webhooks.deliverer());
  return hook.requests.map(({ headers, body }) => {
    expect(headers['btcpay-sig']).toBe(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
    return JSON.parse(body) as Message;
  });
}

const simulate = (shop: Shop, { id }: Invoice, outcome: string) =>
  shop.call({ path: `/v1/invoices/${id}/simulate`, body: { outcome } });

async function answered<Body>(shop: Shop, request: Parameters<typeof call>[1]): Promise<Body> {
  const { status, body } = await call<Body>(shop, request);
  expect([request.path, status]).toEqual([request.path, 200]);
  return body;
}

const types = (found: readonly Message[]): readonly string[] => found.map(({ type }) => type);
const PAID = ['InvoiceReceivedPayment', 'InvoiceProcessing', 'InvoicePaymentSettled', 'InvoiceSettled'];

describe('WooCommerce', () => {
  const specificEvents = [
    'InvoiceReceivedPayment',
    'InvoicePaymentSettled',
    'InvoiceProcessing',
    'InvoiceExpired',
    'InvoiceSettled',
    'InvoiceInvalid',
  ];
  /** The state that each message gives an order, with the plugin's usual settings. */
  const STATES: Readonly<Record<string, string>> = {
    InvoiceProcessing: 'on-hold',
    InvoiceInvalid: 'failed',
    InvoiceExpired: 'cancelled',
    InvoiceSettled: 'processing',
  };
  const order = (number: string) => ({
    amount: '49.99',
    currency: 'EUR',
    metadata: {
      buyerEmail: 'anna@example.com',
      buyerName: 'Anna Example',
      buyerAddress1: 'Main Street 1',
      buyerAddress2: '',
      buyerCity: 'Graz',
      buyerState: '',
      buyerZip: '8010',
      buyerCountry: 'AT',
      taxIncluded: '7.98',
      posData: `{"WooCommerce":{"Order ID":7,"Order Number":"${number}","Plugin Version":"2.8.0"}}`,
      orderUrl: 'https://shop.example/wp-admin/admin.php?page=wc-orders&action=edit&id=7',
      orderId: number,
    },
    checkout: {
      speedPolicy: null,
      paymentMethods: ['BTC_CHAIN', 'USDT_POLYGON'],
      expirationMinutes: null,
      monitoringMinutes: null,
      paymentTolerance: null,
      redirectURL: 'https://shop.example/checkout/order-received/7/?key=wc_order_a1',
      redirectAutomatically: null,
      defaultLanguage: null,
    },
  });

  it('connects, sells, reads the payments, and refunds from its own order page', async () => {
    const shop = await http.shop();
    const hook = await receiver();
    const headers = { authorization: `token ${await shop.key()}` };
    const key = await http.call<{ permissions: string[] }>({ path: '/api/v1/api-keys/current', headers });
    const optional = ['webhooks.canmodifywebhooks', 'cancreatenonapprovedpullpayments'];
    const names = key.body.permissions.map((one) => one.split(':')[0]?.replace('btcpay.store.', '') ?? '');
    const required = ['canviewinvoices', 'cancreateinvoice', 'canviewstoresettings', 'canmodifyinvoices'];
    expect(new Set(names.filter((name) => !optional.includes(name)))).toEqual(new Set(required));
    const methods = await answered<{ enabled: boolean; paymentMethodId: string }[]>(shop, { path: '/payment-methods' });
    expect(methods.filter(({ enabled }) => enabled).length).toBeGreaterThan(0);
    const authorizedEvents = { everything: false, specificEvents };
    const { secret } = await answered<{ secret: string }>(shop, {
      path: '/webhooks',
      body: { enabled: true, automaticRedelivery: true, url: hook.url, authorizedEvents },
    });
    const invoice = await answered<Invoice>(shop, { path: '/invoices', body: order('7') });
    expect(invoice['checkoutLink']).toContain(invoice.id);
    await simulate(shop, invoice, 'paid');
    const told = await messages(hook, secret);
    expect(types(told)).toEqual(PAID);
    expect(told.map(({ type }) => STATES[type]).findLast((state) => state !== undefined)).toBe('processing');
    const [paid] = await answered<Record<string, string>[]>(shop, { path: `/invoices/${invoice.id}/payment-methods` });
    expect(Number(paid?.['paymentMethodPaid'])).toBeGreaterThan(0);
    const { status, body: refund } = await call<{ id: string; viewLink: string }>(shop, {
      path: '/pull-payments',
      body: {
        name: 'Refund of order 7; too small',
        description: null,
        amount: '10.00',
        currency: 'EUR',
        period: null,
        BOLT11Expiration: null,
        autoApproveClaims: false,
        startsAt: null,
        expiresAt: null,
        paymentMethods: methods.map(({ paymentMethodId }) => paymentMethodId.replace('-', '_')),
        payoutMethods: methods.map(({ paymentMethodId }) => paymentMethodId.replace('-', '_')),
      },
    });
    expect([status, refund.viewLink]).toEqual([200, expect.stringContaining(refund.id)]);
  });

  it('gives up an invoice of another order, and hears of one that expires', async () => {
    const shop = await http.shop();
    const hook = await receiver();
    const { secret } = await answered<{ secret: string }>(shop, { path: '/webhooks', body: { url: hook.url } });
    const invoice = await answered<Invoice>(shop, { path: '/invoices', body: order('8') });
    await answered(shop, { path: `/invoices/${invoice.id}/status`, body: { status: 'Invalid' } });
    const expired = await answered<Invoice>(shop, { path: '/invoices', body: order('9') });
    await simulate(shop, expired, 'expired');
    const told = await messages(hook, secret);
    expect(told.filter(({ invoiceId }) => invoiceId === invoice.id)).toMatchObject([
      { type: 'InvoiceCreated' },
      { type: 'InvoiceInvalid', manuallyMarked: true },
    ]);
    expect(told.filter(({ invoiceId }) => invoiceId === expired.id)).toMatchObject([
      { type: 'InvoiceCreated' },
      { type: 'InvoiceExpired', partiallyPaid: false },
    ]);
  });
});

describe('PrestaShop', () => {
  it('connects with its own secret, finds its key in posData, and makes the order at the first money', async () => {
    const shop = await http.shop();
    const hook = await receiver();
    const secret = '0f'.repeat(24);
    const made = await answered<{ id: string; secret: string }>(shop, {
      path: '/webhooks',
      body: { enabled: true, automaticRedelivery: true, url: hook.url, authorizedEvents: { everything: true }, secret },
    });
    expect(made.secret).toBe(secret);
    for (const list of ['OnChain', 'LightningNetwork']) {
      const found = await answered<{ enabled: boolean; cryptoCode: string }[]>(shop, {
        path: `/payment-methods/${list}`,
      });
      expect(found.every(({ enabled, cryptoCode }) => enabled && cryptoCode !== '')).toBe(true);
    }
    const invoice = await answered<Invoice>(shop, {
      path: '/invoices',
      body: {
        amount: '59.97',
        currency: 'EUR',
        metadata: {
          posData: 'c0ffee00c0ffee00c0ffee00c0ffee00',
          itemCode: 'invoice-reference-x1Y2z3',
          itemDesc: 'Purchase from Tea & Sons',
          taxIncluded: '9.575',
          orderId: 'x1Y2z3',
          buyerEmail: 'anna@example.com',
        },
        checkout: {
          speedPolicy: 'MediumSpeed',
          redirectURL: 'https://shop.example/module/btcpay/validation?invoice_reference=x1Y2z3',
        },
      },
    });
    await simulate(shop, invoice, 'part');
    expect(await answered<Invoice>(shop, { path: `/invoices/${invoice.id}` })).toMatchObject({
      status: 'New',
      additionalStatus: 'PaidPartial',
      metadata: { posData: 'c0ffee00c0ffee00c0ffee00c0ffee00' },
    });
    await simulate(shop, invoice, 'paid');
    const told = await messages(hook, secret);
    expect(types(told).slice(0, 3)).toEqual(['InvoiceCreated', 'InvoiceReceivedPayment', 'InvoicePaymentSettled']);
    expect(types(told).at(-1)).toBe('InvoiceSettled');
    expect(told.filter(({ type }) => type === 'InvoiceReceivedPayment')).toHaveLength(2);
  });

  it('a sale that the sandbox completes by its timer has its money first', async () => {
    const shop = await http.shop();
    const hook = await receiver();
    const { secret } = await answered<{ secret: string }>(shop, { path: '/webhooks', body: { url: hook.url } });
    const invoice = await answered<Invoice>(shop, { path: '/invoices', body: { amount: '5', currency: 'EUR' } });
    await shop.call({ path: `/v1/invoices/${invoice.id}/complete`, body: {} });
    expect(types(await messages(hook, secret))).toEqual([
      'InvoiceCreated',
      'InvoiceReceivedPayment',
      'InvoicePaymentSettled',
      'InvoiceSettled',
    ]);
  });
});

describe('Magento', () => {
  it('keeps the store, the status and the order of an invoice, and finds its open ones by order', async () => {
    const shop = await http.shop();
    const as = {
      permission: null,
      scopes: ['payments:read', 'payments:create', 'payments:change', 'webhooks'],
    } as const;
    const key = await shop.key(as);
    const headers = { authorization: `token ${key}` };
    const current = await http.call<{ permissions: string[] }>({ path: '/api/v1/api-keys/current', headers });
    // The plugin refuses a key with one more.
    expect(current.body.permissions).toHaveLength(5);
    const stores = await http.call<{ id: string; name: string }[]>({ path: '/api/v1/stores', headers });
    expect(stores.body.map(({ id, name }) => [id, name])).toEqual([[shop.projectId, 'Shop']]);
    const invoice = await answered<Invoice>(shop, {
      as,
      path: '/invoices',
      body: {
        amount: '166.00000000',
        currency: 'EUR',
        metadata: {
          buyerName: 'ACME Corp, Anna Example',
          buyerCountry: 'AT',
          buyerState: null,
          buyerAddress1: 'Main Street 1',
          physical: true,
          taxIncluded: false,
          magentoOrderId: '12',
          buyerMiddlename: null,
          magentoStoreId: 1,
          orderId: '000000012',
          buyerEmail: 'anna@example.com',
        },
        checkout: {
          redirectURL:
            'https://shop.example/btcpay/redirect/returnafterpayment/orderId/12/invoiceId/{InvoiceId}/hash/ab/',
          redirectAutomatically: true,
          defaultLanguage: 'de-DE',
        },
      },
    });
    expect(invoice).toMatchObject({ storeId: shop.projectId, status: 'New', metadata: { magentoOrderId: '12' } });
    const { body: own } = await shop.call({ path: `/v1/invoices/${invoice.id}` });
    expect(own['success_url']).toContain(`/invoiceId/${invoice.id}/`);
    const found = await answered<Invoice[]>(shop, { as, path: '/invoices?orderId=000000012&orderId=000000013' });
    expect(found.map(({ id, metadata }) => [id, Reflect.get(metadata, 'orderId')])).toEqual([
      [invoice.id, '000000012'],
    ]);
    // It refuses an invoice with the methods of two currencies.
    expect(await answered(shop, { as, path: `/invoices/${invoice.id}/payment-methods` })).toEqual([]);
    await simulate(shop, invoice, 'paid');
    const methods = await answered<{ currency: string; rate: string; payments: object[] }[]>(shop, {
      as,
      path: `/invoices/${invoice.id}/payment-methods`,
    });
    expect(new Set(methods.map(({ currency }) => currency)).size).toBe(1);
    expect(methods[0]?.payments).toHaveLength(1);
  });
});

describe('Shopware', () => {
  it('sends the amount as a number and a webhook of its address alone, and reads its own numbers back', async () => {
    const shop = await http.shop();
    const hook = await receiver();
    expect(await answered(shop, { path: '/invoices' })).toEqual([]);
    const made = await answered<{ id: string; secret: string }>(shop, { path: '/webhooks', body: { url: hook.url } });
    expect(await answered(shop, { path: `/webhooks/${made.id}` })).toMatchObject({ enabled: true });
    const metadata = {
      orderId: '0197aa00b1c2d3e4f5a6b7c8d9e0f1a2',
      orderNumber: '10001',
      transactionId: '0197aa00b1c2d3e4f5a6b7c8d9e0f1a3',
    };
    const checkout = { redirectURL: 'https://shop.example/checkout/finish?orderId=0197', redirectAutomatically: true };
    const invoice = await answered<Invoice>(shop, {
      path: '/invoices',
      body: { amount: 19.99, currency: 'EUR', metadata, checkout },
    });
    await simulate(shop, invoice, 'late');
    const told = await messages(hook, made.secret);
    expect(told.map(({ type, afterExpiration }) => [type, afterExpiration])).toEqual([
      ['InvoiceCreated', undefined],
      ['InvoiceExpired', undefined],
      ['InvoiceReceivedPayment', true],
      ['InvoicePaymentSettled', true],
    ]);
    for (const { invoiceId } of told) {
      const read = await answered<Invoice>(shop, { path: `/invoices/${invoiceId}` });
      expect(read.metadata).toEqual(metadata);
    }
    // Money in full after the end is paid for the plugin's library.
    expect(await answered(shop, { path: `/invoices/${invoice.id}` })).toMatchObject({
      status: 'Expired',
      additionalStatus: 'PaidLate',
    });
  });
});
