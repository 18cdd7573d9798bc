import { afterAll, describe, expect, it } from 'vitest';
import { completeSandboxPayment } from '../../src/app/payments/payment-actions.ts';
import { simulatePayment } from '../../src/app/payments/simulate-payment.ts';
import { claimRefund } from '../../src/app/refunds/change-refund.ts';
import { runDueRefunds } from '../../src/app/refunds/end-refunds.ts';
import { decodeId } from '../../src/domain/id.ts';
import { SANDBOX_REFUND_MS } from '../../src/domain/refund.ts';
import { sql } from 'kysely';
import { REFUND_FIELDS } from '../../src/http/refunds/schema.ts';
import { httpTest, type Fields, type Shop } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());

const BTC_ADDRESS = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const ETH_ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

interface Page {
  readonly data: readonly Fields[];
  readonly pagination: { readonly total: number; readonly has_more: boolean };
}

async function order(shop: Shop, fields: object = {}): Promise<Fields> {
  const { body } = await shop.call({
    path: '/v1/orders',
    body: { amount: 100, currency: 'USD', crypto_currency: 'BTC', ...fields },
  });
  return body;
}

async function paidOrder(shop: Shop, fields: object = {}): Promise<Fields> {
  const made = await order(shop, fields);
  await completeSandboxPayment(http.app, { id: decodeId('order', made.id) ?? '' });
  return made;
}

async function refunded(shop: Shop, body: object): Promise<Fields> {
  const answer = await shop.call({ path: '/v1/refunds', body });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return answer.body;
}

async function refusal(shop: Shop, body: object) {
  const answer = await shop.call<{ error: { message: string; param?: string } }>({ path: '/v1/refunds', body });
  expect(answer.status).toBe(400);
  return answer.body.error;
}

async function eventsOf(paymentId: string): Promise<readonly { readonly type: string; readonly data: object }[]> {
  const rows = await http.app.db
    .selectFrom('events')
    .select('body')
    .where('payment_id', '=', paymentId)
    .orderBy('id')
    .execute();
  return rows.map(({ body }) => JSON.parse(body) as { type: string; data: object });
}

it('without an amount everything is refunded; the answer has exactly the decided fields', async () => {
  const shop = await http.shop();
  const paid = await paidOrder(shop);
  const refund = await refunded(shop, { order_id: paid.id, address: BTC_ADDRESS, reason: 'Sent back' });
  expect(refund).toEqual({
    id: expect.stringMatching(/^re_[0-9a-hjkmnp-tv-z]{26}$/),
    object: 'refund',
    status: 'pending',
    payment: paid.id,
    amount: 100,
    currency: 'USD',
    crypto_currency: 'BTC',
    network: 'bitcoin',
    crypto_amount: 0.00166667,
    address: BTC_ADDRESS,
    claim_url: null,
    transaction_hash: null,
    reason: 'Sent back',
    failure_reason: null,
    created_at: new Date(http.clock()).toISOString(),
    completed_at: null,
  });
  const read = await shop.call({ path: `/v1/refunds/${refund.id}` });
  expect([read.status, read.body]).toEqual([200, refund]);
});

it('a test refund completes after 10 seconds, with its events, and leaves the payment as it was', async () => {
  const shop = await http.shop();
  const paid = await paidOrder(shop);
  const before = await shop.call({ path: `/v1/orders/${paid.id}` });
  const refund = await refunded(shop, { order_id: paid.id, amount: 40, address: BTC_ADDRESS });
  http.clock.advance(SANDBOX_REFUND_MS - 1);
  await runDueRefunds(http.app, 100);
  expect((await shop.call({ path: `/v1/refunds/${refund.id}` })).body.status).toBe('pending');
  http.clock.advance(1);
  await runDueRefunds(http.app, 100);
  const done = await shop.call({ path: `/v1/refunds/${refund.id}` });
  expect(done.body).toEqual({
    ...refund,
    status: 'completed',
    transaction_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    completed_at: new Date(http.clock()).toISOString(),
  });
  expect((await shop.call({ path: `/v1/orders/${paid.id}` })).body).toEqual(before.body);
  const events = (await eventsOf(decodeId('order', paid.id) ?? '')).filter(({ type }) => type.startsWith('refund.'));
  expect(events).toMatchObject([
    { type: 'refund.created', data: refund },
    { type: 'refund.completed', data: done.body },
  ]);
});

it('a test refund waits for its customer’s address, and completes 10 seconds after it', async () => {
  const shop = await http.shop();
  const refund = await refunded(shop, { order_id: (await paidOrder(shop)).id });
  const read = async () => (await shop.call({ path: `/v1/refunds/${refund.id}` })).body;
  http.clock.advance(SANDBOX_REFUND_MS * 10);
  await runDueRefunds(http.app, 100);
  expect(await read()).toEqual(refund);
  await claimRefund(http.app, decodeId('refund', refund.id) ?? '', BTC_ADDRESS);
  http.clock.advance(SANDBOX_REFUND_MS - 1);
  await runDueRefunds(http.app, 100);
  expect(await read()).toMatchObject({ status: 'pending', address: BTC_ADDRESS });
  http.clock.advance(1);
  await runDueRefunds(http.app, 100);
  expect(await read()).toMatchObject({ status: 'completed', address: BTC_ADDRESS });
});

it('money that was given or promised back cannot be accepted as payment any more', async () => {
  const shop = await http.shop();
  const { body: made } = await shop.call({
    path: '/v1/orders',
    body: { amount: 25, currency: 'USD', crypto_currency: 'BTC' },
  });
  const accept = () => shop.call({ method: 'POST', path: `/v1/orders/${made.id}/accept` });
  await simulatePayment(http.app, { id: decodeId('order', made.id) ?? '' }, 'late');
  const refund = await refunded(shop, { order_id: made.id, address: BTC_ADDRESS });
  for (const advance of [0, SANDBOX_REFUND_MS]) {
    http.clock.advance(advance);
    await runDueRefunds(http.app, 100);
    const { status, body } = await accept();
    expect([status, body]).toMatchObject([
      400,
      { error: { message: expect.stringContaining('has been refunded or is reserved') } },
    ]);
    expect((await shop.call({ path: `/v1/orders/${made.id}` })).body.status).toBe('expired');
  }
  expect((await shop.call({ path: `/v1/refunds/${refund.id}` })).body.status).toBe('completed');

  // Promised back and withdrawn, it is there again.
  const { body: other } = await shop.call({
    path: '/v1/orders',
    body: { amount: 25, currency: 'USD', crypto_currency: 'BTC' },
  });
  await simulatePayment(http.app, { id: decodeId('order', other.id) ?? '' }, 'late');
  const promised = await refunded(shop, { order_id: other.id });
  await shop.call({ method: 'POST', path: `/v1/refunds/${promised.id}/cancel` });
  expect((await shop.call({ method: 'POST', path: `/v1/orders/${other.id}/accept` })).body.status).toBe('completed');
});

it('a refund whose reason is test_failure fails after 10 seconds and can be made again', async () => {
  const shop = await http.shop();
  const { body } = await shop.call({ path: '/api/transactions/create', body: { amount: 10 } });
  const { id } = body.transaction;
  await completeSandboxPayment(http.app, { id });
  const refund = await refunded(shop, { transaction_id: id, reason: 'test_failure' });
  expect(refund['payment']).toBe(id);
  http.clock.advance(SANDBOX_REFUND_MS);
  await runDueRefunds(http.app, 100);
  expect((await shop.call({ path: `/v1/refunds/${refund.id}` })).body).toMatchObject({
    status: 'failed',
    failure_reason: 'test_failure',
    transaction_hash: null,
    completed_at: null,
    claim_url: null,
  });
  expect((await eventsOf(id)).map(({ type }) => type)).toContain('refund.failed');
  await refunded(shop, { transaction_id: id });
});

describe('the sum of refunds', () => {
  it('never exceeds what was received, part by part', async () => {
    const shop = await http.shop();
    const paid = await paidOrder(shop);
    const first = await refunded(shop, { order_id: paid.id, amount: 33.33 });
    expect([first['amount'], first['crypto_amount']]).toEqual([33.33, 0.0005555]);
    const left = await refusal(shop, { order_id: paid.id, amount: 66.68 });
    expect(left).toMatchObject({ param: 'amount', message: expect.stringContaining('0.00111117 BTC (66.67 USD)') });
    const rest = await refunded(shop, { order_id: paid.id });
    expect(rest['crypto_amount']).toBe(0.00111117);
    expect((await refusal(shop, { order_id: paid.id })).message).toContain('Nothing is left');
    expect((await refusal(shop, { order_id: paid.id, amount: 0.01 })).message).toContain('Nothing is left');
  });

  it('never exceeds it in the amounts either, however small the parts', async () => {
    const shop = await http.shop();
    const created = await shop.call({
      path: '/v1/orders',
      body: { amount: 0.4, currency: 'USD', crypto_currency: 'BTC' },
    });
    const id = created.body['id'] ?? '';
    await simulatePayment(http.app, { id: decodeId('order', id) ?? '' }, 'paid');
    // 40 cents are 667 units, and each cent of them 16.
    for (let cent = 0; cent < 40; cent += 1) await refunded(shop, { order_id: id, amount: 0.01 });
    const refused = await refusal(shop, { order_id: id, amount: 0.01 });
    expect(refused).toMatchObject({ param: 'amount', message: expect.stringContaining('0.00000027 BTC (0 USD)') });
    const rest = await refunded(shop, { order_id: id });
    expect([rest['amount'], rest['crypto_amount']]).toEqual([0, 2.7e-7]);
  });

  it('holds when many ask at once', async () => {
    const shop = await http.shop();
    const paid = await paidOrder(shop);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => shop.call({ path: '/v1/refunds', body: { order_id: paid.id, amount: 30 } })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(7);
  });

  it('gets back what a failed or cancelled refund had taken', async () => {
    const shop = await http.shop();
    const paid = await paidOrder(shop);
    const refund = await refunded(shop, { order_id: paid.id });
    const cancelled = await shop.call({ method: 'POST', path: `/v1/refunds/${refund.id}/cancel` });
    expect([cancelled.status, cancelled.body]).toMatchObject([200, { status: 'failed', failure_reason: 'cancelled' }]);
    const again = await shop.call({ method: 'POST', path: `/v1/refunds/${refund.id}/cancel` });
    expect([again.status, again.body]).toEqual([
      400,
      { error: { type: 'invalid_request_error', message: expect.stringContaining('no longer pending') } },
    ]);
    await refunded(shop, { order_id: paid.id, amount: 100 });
  });

  it('counts what came beyond the amount, too', async () => {
    const shop = await http.shop();
    const made = await order(shop);
    await simulatePayment(http.app, { id: decodeId('order', made.id) ?? '' }, 'over');
    const received = (await shop.call({ path: `/v1/orders/${made.id}` })).body['amount_received'];
    expect((await refunded(shop, { order_id: made.id }))['crypto_amount']).toBe(received);
  });
});

describe('crypto_amount', () => {
  it('may be given instead of amount, down to the smallest unit, and comes back without an exponent', async () => {
    const shop = await http.shop();
    const paid = await paidOrder(shop);
    const answer = await shop.call({ path: '/v1/refunds', body: { order_id: paid.id, crypto_amount: 0.0015 } });
    expect(answer.body).toMatchObject({ crypto_amount: 0.0015, amount: 89.99 });
    const least = await shop.call({ path: '/v1/refunds', body: { order_id: paid.id, crypto_amount: 1e-8 } });
    expect(least.text).toContain('"crypto_amount":0.00000001,');
  });

  it.each<[string, object, string]>([
    ['zero', { crypto_amount: 0 }, 'crypto_amount'],
    ['negative', { crypto_amount: -1 }, 'crypto_amount'],
    ['of nine decimals', { crypto_amount: 0.000000001 }, 'crypto_amount'],
    ['too much', { crypto_amount: 1 }, 'crypto_amount'],
    ['far too much', { crypto_amount: 1e300 }, 'crypto_amount'],
    ['a text', { crypto_amount: '0.001' }, 'crypto_amount'],
    ['beside amount', { crypto_amount: 0.001, amount: 1 }, 'crypto_amount'],
    ['an amount of zero', { amount: 0 }, 'amount'],
    ['a negative amount', { amount: -5 }, 'amount'],
    ['an amount of three decimals', { amount: 1.005 }, 'amount'],
    ['more than was paid', { amount: 100.01 }, 'amount'],
    ['a text as amount', { amount: '5' }, 'amount'],
    ['a reason of 1,001 characters', { reason: 'x'.repeat(1_001) }, 'reason'],
    ['NUL in the reason', { reason: '\0' }, 'reason'],
    ['an empty address', { address: '' }, 'address'],
    ['an address that is none', { address: 'my wallet' }, 'address'],
    ['an address of another chain', { address: ETH_ADDRESS }, 'address'],
    ['an address with a typo', { address: BTC_ADDRESS.replace('w', 'x') }, 'address'],
    ['an address of 201 characters', { address: 'x'.repeat(201) }, 'address'],
    ['an address with NUL', { address: `${BTC_ADDRESS}\0` }, 'address'],
  ])('or the rest is refused: %s', async (_name, fields, param) => {
    const shop = await http.shop();
    const paid = await paidOrder(shop);
    expect(await refusal(shop, { order_id: paid.id, ...fields })).toMatchObject({ param });
    expect((await shop.call<Page>({ path: '/v1/refunds' })).body.pagination.total).toBe(0);
  });
});

it('an address is taken in its usual form', async () => {
  const shop = await http.shop();
  const paid = await paidOrder(shop, { crypto_currency: 'ETH' });
  const refund = await refunded(shop, { order_id: paid.id, address: ` ${ETH_ADDRESS.toLowerCase()} ` });
  expect(refund['address']).toBe(ETH_ADDRESS);
});

describe('what can be refunded', () => {
  it('a final payment with confirmed money, whatever its end', async () => {
    const shop = await http.shop();
    const made = await order(shop);
    const id = decodeId('order', made.id) ?? '';
    await simulatePayment(http.app, { id }, 'part');
    expect(await refusal(shop, { order_id: made.id })).toMatchObject({
      param: 'order_id',
      message: expect.stringContaining('not over yet'),
    });
    await simulatePayment(http.app, { id }, 'expired');
    expect((await shop.call({ path: `/v1/orders/${made.id}` })).body).toMatchObject({
      status: 'failed',
      failure_reason: 'underpaid',
    });
    await refunded(shop, { order_id: made.id });
  });

  it('not one without money', async () => {
    const shop = await http.shop();
    const made = await order(shop);
    await shop.call({ method: 'POST', path: `/v1/orders/${made.id}/cancel` });
    expect(await refusal(shop, { order_id: made.id })).toMatchObject({
      param: 'order_id',
      message: expect.stringContaining('no confirmed money'),
    });
  });

  it('not another project’s, another mode’s, another API’s or an unknown one', async () => {
    const shop = await http.shop();
    const paid = await paidOrder(shop);
    const other = await http.shop();
    for (const [who, body, side] of [
      [other, { order_id: paid.id }, 'test'],
      [shop, { order_id: paid.id }, 'live'],
      [shop, { transaction_id: decodeId('order', paid.id) }, 'test'],
      [shop, { order_id: 'ord_00000000000000000000000000' }, 'test'],
      [shop, { order_id: 'nonsense' }, 'test'],
      [shop, { transaction_id: 'nonsense' }, 'test'],
      [shop, { order_id: decodeId('order', paid.id) }, 'test'],
    ] as const) {
      const { status, body: answer } = await who.call({ side, path: '/v1/refunds', body });
      expect([status, answer]).toMatchObject([404, { error: { type: 'not_found_error' } }]);
    }
  });

  it.each([
    [{}, `One of ${REFUND_FIELDS} is required.`],
    [{ order_id: 'ord_1', transaction_id: 'x' }, `Only one of ${REFUND_FIELDS} may be given.`],
    [{ order_id: 7 }, 'order_id must be text, not a number.'],
    [{ order_id: null }, 'order_id must be text, not null.'],
  ])('the payment must be named once: %j', async (body, message) => {
    expect(await refusal(await http.shop(), body)).toMatchObject({ param: 'order_id', message });
  });
});

describe('lists of refunds', () => {
  it('are filtered by status and payment, newest first', async () => {
    const shop = await http.shop();
    const [one, two] = [await paidOrder(shop), await paidOrder(shop)];
    const ids: string[] = [];
    for (const order_id of [one.id, two.id, one.id]) {
      http.clock.advance(1);
      ids.unshift((await refunded(shop, { order_id, amount: 1 })).id);
    }
    await shop.call({ method: 'POST', path: `/v1/refunds/${ids[0]}/cancel` });
    const list = async (query = '') => {
      const { status, body } = await shop.call<Page>({ path: `/v1/refunds${query}` });
      expect(status).toBe(200);
      return { ids: body.data.map(({ id }) => id), total: body.pagination.total, more: body.pagination.has_more };
    };
    expect(await list()).toEqual({ ids, total: 3, more: false });
    expect(await list('?limit=2')).toEqual({ ids: ids.slice(0, 2), total: 3, more: true });
    expect(await list('?limit=2&offset=2')).toEqual({ ids: ids.slice(2), total: 3, more: false });
    expect(await list('?status=failed')).toEqual({ ids: ids.slice(0, 1), total: 1, more: false });
    expect((await list(`?order_id=${two.id}`)).ids).toEqual([ids[1]]);
    expect((await list(`?order_id=${one.id}&status=pending`)).ids).toEqual([ids[2]]);
    expect((await list(`?transaction_id=${decodeId('order', one.id)}`)).total).toBe(0);
    expect((await list('?order_id=nonsense')).total).toBe(0);
    expect((await list(`?order_id=${two.id}&limit=1`)).ids).toHaveLength(1);
    const both = await shop.call({ path: `/v1/refunds?order_id=${one.id}&transaction_id=x` });
    const message = `Only one of ${REFUND_FIELDS} may be given.`;
    expect([both.status, both.body]).toMatchObject([400, { error: { message, param: 'order_id' } }]);
  });

  it('and refunds themselves are kept from other projects and modes', async () => {
    const shop = await http.shop();
    const refund = await refunded(shop, { order_id: (await paidOrder(shop)).id });
    const other = await http.shop();
    for (const [who, side] of [[other, 'test'] as const, [shop, 'live'] as const]) {
      expect((await who.call<Page>({ side, path: '/v1/refunds' })).body.pagination.total).toBe(0);
      for (const call of [
        { path: `/v1/refunds/${refund.id}` },
        { method: 'POST', path: `/v1/refunds/${refund.id}/cancel` },
      ]) {
        expect((await who.call({ side, ...call })).body).toEqual({
          error: { type: 'not_found_error', message: 'There is no such refund.' },
        });
      }
    }
    for (const id of ['re_', 'x'.repeat(500), refund.id.toUpperCase(), '%00', decodeId('refund', refund.id) ?? '']) {
      expect((await shop.call({ path: `/v1/refunds/${id}` })).status).toBe(404);
    }
  });
});

describe('the claim page', () => {
  const claim = (path: string, address: string) =>
    http.call({
      method: 'POST',
      path,
      body: new URLSearchParams({ address }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });

  it('takes the address of a refund that has none, once, and shows what comes of it', async () => {
    const shop = await http.shop();
    const paid = await paidOrder(shop);
    const refund = await refunded(shop, { order_id: paid.id });
    const url = String(refund['claim_url']);
    expect(url).toBe(`https://sandbox.pay.example/refund/${refund.id}`);
    const path = new URL(url).pathname;
    const form = await http.call({ path });
    expect([form.status, form.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(form.text).toContain('name="address"');

    const wrong = await claim(path, `${ETH_ADDRESS}"><script>`);
    expect(wrong.status).toBe(400);
    expect(wrong.text).not.toContain('<script>');
    expect((await shop.call({ path: `/v1/refunds/${refund.id}` })).body['address']).toBeNull();

    const { quote } = await http.app.read(decodeId('order', paid.id) ?? '');
    const own = await claim(path, quote?.address ?? '');
    expect([own.status, own.text]).toEqual([400, expect.stringContaining('This address doesn')]);

    const taken = await claim(path, ` ${BTC_ADDRESS} `);
    expect([taken.status, taken.headers['location']]).toEqual([303, path]);
    expect((await shop.call({ path: `/v1/refunds/${refund.id}` })).body).toMatchObject({
      address: BTC_ADDRESS,
      claim_url: null,
    });
    expect((await http.call({ path })).text).not.toContain('name="address"');
    const second = await claim(path, 'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7');
    expect(second.headers).not.toHaveProperty('location');
    expect((await shop.call({ path: `/v1/refunds/${refund.id}` })).body['address']).toBe(BTC_ADDRESS);

    http.clock.advance(SANDBOX_REFUND_MS);
    await runDueRefunds(http.app, 100);
    expect((await http.call({ path })).text).toContain('Your refund was sent');
  });

  it('says so when there is no such refund, or it was withdrawn', async () => {
    for (const path of ['/refund/re_00000000000000000000000000', '/refund/x', '/refund/%00']) {
      expect([(await http.call({ path })).status, (await claim(path, BTC_ADDRESS)).status]).toEqual([404, 404]);
    }
    const shop = await http.shop();
    const refund = await refunded(shop, { order_id: (await paidOrder(shop)).id });
    await shop.call({ method: 'POST', path: `/v1/refunds/${refund.id}/cancel` });
    expect((await http.call({ path: `/refund/${refund.id}` })).text).toContain('will not be paid');
    const late = await claim(`/refund/${refund.id}`, BTC_ADDRESS);
    expect(late.headers).not.toHaveProperty('location');
    expect((await shop.call({ path: `/v1/refunds/${refund.id}` })).body['address']).toBeNull();
  });

  it('says that it was sent if a transaction paid it after it was cancelled, on the page of the payment too', async () => {
    const shop = await http.shop();
    const { id } = await paidOrder(shop);
    const refund = await refunded(shop, { order_id: id, address: BTC_ADDRESS });
    await shop.call({ method: 'POST', path: `/v1/refunds/${refund.id}/cancel` });
    const pages = async () => [
      (await http.call({ path: `/refund/${refund.id}` })).text,
      (await http.call({ path: `/pay/${id}` })).text,
    ];
    expect(await pages()).toEqual([
      expect.stringContaining('will not be paid'),
      expect.not.stringContaining('was sent to'),
    ]);
    // On EVM chains, such a late payout is matched by its amount and address alone.
    await sql`insert into refund_payouts (network, transaction_hash, asset, output_index, refund_id, block_height, is_guess)
      select network, '0xpaid', asset, 0, id, 1, true from refunds where id = ${decodeId('refund', refund.id)}`.execute(
      http.app.db,
    );
    expect(await pages()).toEqual([
      expect.stringMatching(/Your refund was sent.*0xpaid/s),
      expect.stringContaining('was sent to your address'),
    ]);
  });
});
