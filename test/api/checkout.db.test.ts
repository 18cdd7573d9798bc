import { afterAll, describe, expect, it } from 'vitest';
import { completeSandboxPayment } from '../../src/app/payments/payment-actions.ts';
import { simulatePayment } from '../../src/app/payments/simulate-payment.ts';
import { decodeId } from '../../src/domain/id.ts';
import { httpTest, type Answer, type Shop } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());

const CUSTOMER = { customer_email: 'anna@example.com', customer_name: 'Anna Karenina' };
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

async function transaction(shop: Shop, fields: object = {}): Promise<string> {
  const { body } = await shop.call({
    path: '/api/transactions/create',
    body: { amount: 49.99, order_description: 'Two <mugs> & "more"', ...CUSTOMER, ...fields },
  });
  return body.transaction.id;
}

async function order(shop: Shop, fields: object = {}): Promise<string> {
  const { body } = await shop.call({
    path: '/v1/orders',
    body: { amount: 25, currency: 'USD', crypto_currency: 'ETH', customer_email: 'anna@example.com', ...fields },
  });
  return body.id;
}

function show(id: string, query = ''): Promise<Answer> {
  return http.call({ path: `/pay/${id}${query}` });
}

function submit(path: string, fields: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return http.call({
    method: 'POST',
    path,
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
}

async function statusOf(shop: Shop, id: string): Promise<unknown> {
  return id.startsWith('ord_')
    ? (await shop.call({ path: `/v1/orders/${id}` })).body.status
    : (await shop.call({ path: `/api/transactions/${id}` })).body.transaction.status;
}

/** Invariants of every page. */
function expectPage(answer: Answer, status: number): void {
  expect([answer.status, answer.headers['content-type']]).toEqual([status, 'text/html; charset=utf-8']);
  expect(answer.headers).toMatchObject({
    'content-security-policy': CSP,
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
  });
  expect(answer.text).toMatch(/^<!doctype html>/i);
  // Scripts of this service, and data for them.
  const text = answer.text.replaceAll(
    /<script type="(?:module" src="\/assets\/[\w.]+"|application\/json" id="texts")>/g,
    '',
  );
  expect(text).not.toMatch(/<script|javascript:|\son\w+=|https?:\/\/(?!shop\.example|www\.w3\.org)/i);
  expect(answer.text).not.toMatch(/anna@example\.com|Karenina/);
}

it('the address of an action, or one with a slash at its end, leads to the payment page with what was chosen', async () => {
  const id = await order(await http.shop());
  for (const end of ['', 'token', 'cancel', 'simulate']) {
    const { status, headers } = await http.call({ path: `/pay/${id}/${end}?lang=de&amount=1` });
    expect([end, status, headers['location']]).toEqual([end, 303, `/pay/${id}?lang=de`]);
  }
});

describe('the page of a transaction', () => {
  it('offers the tokens as forms; choosing one leads to amount, address and QR code', async () => {
    const shop = await http.shop();
    const id = await transaction(shop);
    const page = await show(id);
    expectPage(page, 200);
    expect(page.text).toContain('49.99');
    expect(page.text).toContain('Two &lt;mugs&gt; &amp; &quot;more&quot;');
    expect(page.text).toContain(`action="/pay/${id}/token"`);
    expect(page.text).toMatch(/name="asset" value="USDT".*name="network" value="polygon"/s);

    const chosen = await submit(`/pay/${id}/token`, { asset: 'USDT', network: 'polygon' });
    expect([chosen.status, chosen.headers['location'], chosen.text]).toEqual([303, `/pay/${id}`, '']);
    const { body } = await shop.call({ path: `/api/transactions/${id}` });
    expect(body.transaction).toMatchObject({ status: 'pending', crypto_currency: 'USDT', network: 'polygon' });
    const pay = await show(id);
    expectPage(pay, 200);
    expect(pay.text.replaceAll(/<[^>]*>|\s/g, '')).toContain(String(body.transaction['address']));
    expect(pay.text).toContain('49.99');
    expect(pay.text).toContain('<svg');
  });

  it('lets the token be changed until money was seen', async () => {
    const shop = await http.shop();
    const id = await transaction(shop);
    await submit(`/pay/${id}/token`, { asset: 'BTC', network: 'bitcoin' });
    const again = await show(id, '?choose=token');
    expectPage(again, 200);
    expect(again.text).toContain(`action="/pay/${id}/token"`);
    expect((await submit(`/pay/${id}/token`, { asset: 'LTC', network: '' })).status).toBe(303);
    await simulatePayment(http.app, { id }, 'part');
    const late = await submit(`/pay/${id}/token`, { asset: 'BTC', network: 'bitcoin' });
    expectPage(late, 400);
    expect(late.text).toContain('Your payment has already been detected');
    const { body } = await shop.call({ path: `/api/transactions/${id}` });
    expect(body.transaction['crypto_currency']).toBe('LTC');
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ['no token', {}],
    ['an unknown asset', { asset: 'DOGE', network: 'dogecoin' }],
    ['a network of another asset', { asset: 'BTC', network: 'ethereum' }],
    ['what every object has', { asset: 'constructor', network: '__proto__' }],
    ['NUL', { asset: 'BTC\0', network: '\0' }],
    ['an injection', { asset: "BTC'; --", network: '"><script>' }],
    ['too much text', { asset: 'B'.repeat(7_000), network: '' }],
  ])('refuses %s with a page that says so, and changes nothing', async (_name, fields) => {
    const shop = await http.shop();
    const id = await transaction(shop);
    const answer = await submit(`/pay/${id}/token`, fields);
    expectPage(answer, 400);
    expect(answer.text).toContain('role="alert"');
    expect(await statusOf(shop, id)).toBe('created');
  });

  it('says that an amount is too small for a token', async () => {
    const shop = await http.shop();
    const id = await transaction(shop, { amount: 0.01 });
    const answer = await submit(`/pay/${id}/token`, { asset: 'BTC', network: 'bitcoin' });
    expectPage(answer, 400);
    expect(answer.text).toContain('too small');
  });

  it('has nothing to do with fields twice, JSON or other bodies', async () => {
    const shop = await http.shop();
    const id = await transaction(shop);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const answers = [
      await http.call({ path: `/pay/${id}/token`, body: 'asset=BTC&asset=ETH', headers: form }),
      await http.call({ path: `/pay/${id}/token`, body: '[1]' }),
      await http.call({ path: `/pay/${id}/token`, body: 'null' }),
      await http.call({ path: `/pay/${id}/token`, body: '{' }),
      await http.call({ path: `/pay/${id}/token`, body: 'x', headers: { 'content-type': 'text/plain' } }),
      await http.call({ path: `/pay/${id}/token`, body: `asset=${'x'.repeat(9_000)}`, headers: form }),
      await http.call({ path: `/pay/${id}/token`, body: 'asset=%E0%A4%A&%', headers: form }),
      await http.call({ path: `/pay/${id}/token`, method: 'POST' }),
    ];
    for (const answer of answers) expectPage(answer, 400);
    expect(await statusOf(shop, id)).toBe('created');
  });
});

describe('the page of an order', () => {
  it('shows what to pay; its token is the merchant’s choice', async () => {
    const shop = await http.shop();
    const id = await order(shop, {
      return_url: 'https://shop.example/thanks',
      cancel_url: 'https://shop.example/back',
    });
    const page = await show(id);
    expectPage(page, 200);
    expect(page.text).toContain('0.00833334');
    expect(page.text).not.toContain('/token"');
    expectPage(await submit(`/pay/${id}/token`, { asset: 'BTC', network: 'bitcoin' }), 400);
    expect((await shop.call({ path: `/v1/orders/${id}` })).body['crypto_currency']).toBe('ETH');
  });

  it('of both modes is found at either address: whoever has the link sees it', async () => {
    const shop = await http.shop();
    const { body } = await shop.call({
      side: 'live',
      path: '/v1/orders',
      body: { amount: 1, currency: 'USD', crypto_currency: 'ETH' },
    });
    for (const side of ['live', 'test'] as const) {
      const page = await http.call({ side, path: `/pay/${body.id}` });
      expectPage(page, 200);
      expect(page.text).not.toContain('Test mode');
    }
  });
});

describe('cancelling on the page', () => {
  it('cancels what is open and leads back to the page, which then says so', async () => {
    const shop = await http.shop();
    for (const id of [await transaction(shop, { cancel_url: 'https://shop.example/back' }), await order(shop)]) {
      const answer = await submit(`/pay/${id}/cancel`);
      expect([answer.status, answer.headers['location']]).toEqual([303, `/pay/${id}`]);
      expect(await statusOf(shop, id)).toBe('cancelled');
      const page = await show(id);
      expectPage(page, 200);
      expect(page.text).toMatch(/cancelled/i);
      const again = await submit(`/pay/${id}/cancel`);
      expectPage(again, 400);
      expect(again.text).toContain('no longer open');
    }
  });

  it('is refused once money was seen, and looking changes nothing', async () => {
    const shop = await http.shop();
    const id = await order(shop);
    expect((await show(`${id}/cancel`)).status).toBe(303);
    await simulatePayment(http.app, { id: decodeId('order', id) ?? '' }, 'part');
    expectPage(await submit(`/pay/${id}/cancel`), 400);
    expect(await statusOf(shop, id)).toBe('pending');
  });
});

describe('pages of what has ended', () => {
  it('a completed one shows it, and the way back to the shop', async () => {
    const shop = await http.shop();
    const id = await transaction(shop, { success_url: 'https://shop.example/thanks' });
    await completeSandboxPayment(http.app, { id });
    const page = await show(id);
    expectPage(page, 200);
    expect(page.text).toContain('href="https://shop.example/thanks');
    expect(page.text).not.toContain('<form');
    expectPage(await submit(`/pay/${id}/token`, { asset: 'BTC', network: 'bitcoin' }), 400);
  });

  it('an expired one shows it and asks for no money', async () => {
    const shop = await http.shop();
    const id = await transaction(shop);
    await simulatePayment(http.app, { id }, 'expired');
    const page = await show(id);
    expectPage(page, 200);
    expect(page.text).toMatch(/expired/i);
    expect(page.text).not.toContain('<form');
  });

  it('one whose time is up but not yet drawn asks for no money either', async () => {
    const shop = await http.shop();
    const id = await order(shop, { expires_in: 60 });
    http.clock.advance(60_000);
    const page = await show(id);
    expectPage(page, 200);
    expect(page.text).not.toContain('/cancel"');
    http.clock.advance(-60_000);
  });
});

it('an unknown, malformed or forged id is a clear page with 404', async () => {
  const ids = [
    'ord_00000000000000000000000000',
    '00000000-0000-7000-8000-000000000000',
    'x',
    '%00',
    "'%20or%201=1",
    '%3Cscript%3E',
    'x'.repeat(3_000),
    '..%2f..%2fetc%2fpasswd',
  ];
  for (const id of ids) {
    expectPage(await show(id), 404);
    expectPage(await submit(`/pay/${id}/token`, { asset: 'BTC' }), 404);
    expectPage(await submit(`/pay/${id}/cancel`), 404);
  }
  // The UUID behind an order is not its link.
  const behind = await show(decodeId('order', await order(await http.shop())) ?? '');
  expectPage(behind, 404);
  expect(behind.text).toContain('Payment not found');
});

it('what a shop writes cannot become markup, nor a link that is no web address', async () => {
  const shop = await http.shop();
  const id = await transaction(shop, {
    order_id: '"><img src=x onerror=alert(1)>',
    order_description: '</p><script>alert(1)</script>',
    success_url: 'https://shop.example/?"><script>alert(1)</script>',
    cancel_url: "https://shop.example/'onclick='alert(1)",
  });
  const page = await show(id);
  expect(page.text).not.toMatch(/<img src=x|<script>|\?"|'onclick/);
  await completeSandboxPayment(http.app, { id });
  expect((await show(id)).text).not.toMatch(/<img src=x|<script>|\?"|'onclick/);
});

it('the stylesheet is served once and for long', async () => {
  const shop = await http.shop();
  const page = await show(await order(shop));
  const path = /<link rel="stylesheet" href="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const { status, headers } = await http.call({ path });
  expect([status, headers['content-type']]).toEqual([200, 'text/css; charset=utf-8']);
  expect(headers['cache-control']).toContain('immutable');
});

it('nothing of all this was logged as a fault of ours', () => {
  expect(http.logged).toEqual([]);
});

describe('the language of a page', () => {
  it('is the browser’s, or the one that the address names, which links and forms then carry on', async () => {
    const shop = await http.shop();
    const id = await transaction(shop);
    const german = await http.call({ path: `/pay/${id}`, headers: { 'accept-language': 'de-AT,en;q=0.5' } });
    expect(german.text).toContain('<html lang="de" dir="ltr">');
    expect(german.headers['vary']).toContain('accept-language');
    const arabic = await show(id, '?lang=ar');
    expect(arabic.text).toContain('<html lang="ar" dir="rtl">');
    expect(arabic.text).toContain(`action="/pay/${id}/token?lang=ar"`);
    const chosen = await submit(`/pay/${id}/token?lang=ar`, { asset: 'BTC', network: '' });
    expect(chosen.headers['location']).toBe(`/pay/${id}?lang=ar`);
    const unknown = await http.call({ path: '/pay/nothing', headers: { 'accept-language': 'fr' } });
    expect(unknown.text).toContain('<html lang="fr"');
  });
});

describe('what the customer of a test payment can simulate', () => {
  it.each([
    ['paid', 'completed'],
    ['part', 'pending'],
    ['over', 'completed'],
    ['late', 'expired'],
    ['failed', 'failed'],
    ['expired', 'expired'],
  ])('%s makes the payment %s', async (outcome, status) => {
    const shop = await http.shop();
    const id = await order(shop);
    const answer = await submit(`/pay/${id}/simulate`, { outcome });
    expect([answer.status, answer.headers['location']]).toEqual([303, `/pay/${id}?watching=1`]);
    expect(await statusOf(shop, id)).toBe(status);
  });

  it('is nothing that there is not', async () => {
    const shop = await http.shop();
    const id = await order(shop);
    expectPage(await submit(`/pay/${id}/simulate`, { outcome: 'stolen' }), 400);
    expect(await statusOf(shop, id)).toBe('pending');
  });
});

describe('frames', () => {
  it('may show the page if the project allows their origin', async () => {
    const shop = await http.shop();
    const id = await order(shop);
    await http.changeProject(shop.projectId, { allowOrigins: ['https://shop.example'] });
    const framed = await show(id, '?embed=https://shop.example');
    expect(framed.headers['content-security-policy']).toMatch(/frame-ancestors https:\/\/shop\.example$/);
    expect(framed.headers['x-frame-options']).toBeUndefined();
    expect(framed.text).toContain('data-embed="https://shop.example"');
    expect((await show(id, '?embed=https://evil.example')).text).not.toContain('data-embed');
  });
});

describe('a refund on the page of its payment', () => {
  it('is offered, then on its way, then sent', async () => {
    const shop = await http.shop();
    const id = await order(shop);
    await completeSandboxPayment(http.app, { id: decodeId('order', id) ?? '' });
    const { body } = await shop.call({ path: '/v1/refunds', body: { order_id: id } });
    const offered = await show(id);
    expectPage(offered, 200);
    expect(offered.text).toContain(`href="/refund/${body.id}"`);
    const claimed = await submit(`/refund/${body.id}`, { address: '0x71C7656EC7ab88b098defB751B7401B5f6d8976F' });
    expect([claimed.status, claimed.headers['location']]).toEqual([303, `/refund/${body.id}`]);
    const sending = await show(id);
    expect(sending.text).not.toContain(`href="/refund/${body.id}"`);
    expect(sending.text).toContain('The shop will send your refund of');
  });
});

it('is sent compressed to whoever takes it so', async () => {
  const shop = await http.shop();
  const id = await order(shop);
  const answer = await http.call({ path: `/pay/${id}`, headers: { 'accept-encoding': 'gzip, br' } });
  expect(answer.headers).toMatchObject({ 'content-encoding': 'br', vary: 'accept-language, accept-encoding' });
});
