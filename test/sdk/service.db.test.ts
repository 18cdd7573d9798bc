import { afterAll, describe, expect, it } from 'vitest';
import {
  AuthenticationError,
  Cointill,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
} from '../../packages/sdk/src/index.ts';
import { BASE_URLS, httpTest } from '../http.ts';
import { clientOf, listenOn } from './service.fixture.ts';

const http = await httpTest();
const url = await listenOn(http.server('test'));
const liveUrl = await listenOn(http.server('live'));
afterAll(() => http.close());

const NEW = { amount: '25.00', currency: 'USD', crypto_currency: 'BTC' };
const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'no error',
    (error: unknown) => error,
  );

describe('a test key at the live address', () => {
  it('is refused by the first answer, which names the right address, and makes nothing', async () => {
    const cointill = await clientOf(await http.shop(), liveUrl);
    const error = await failure(cointill.orders.create(NEW));
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({
      message: expect.stringContaining(`This is a test key, so use it at ${BASE_URLS.test}.`),
    });
  });

  it('is right for the Transaction API, so that no client may refuse it beforehand', async () => {
    const cointill = await clientOf(await http.shop(), liveUrl);
    expect(await cointill.transactions.create({ amount: '25.00' })).toMatchObject({
      amount_text: '25',
      status: 'created',
    });
  });
});

describe('an error of the service', () => {
  it('names the field in both APIs', async () => {
    const cointill = await clientOf(await http.shop(), url);
    const errors = [
      await failure(cointill.orders.create({ ...NEW, amount: '0' })),
      await failure(cointill.orders.create({ ...NEW, amount: '25.001' })),
      await failure(cointill.transactions.create({ amount: '0' })),
      await failure(cointill.refunds.create({ order_id: 'ord_1', amount: '0.123456789012345678' })),
    ];
    for (const error of errors) expect(error).toBeInstanceOf(InvalidRequestError);
    expect(errors).toMatchObject([{ field: 'amount' }, { field: 'amount' }, { field: 'amount' }, { field: 'amount' }]);
  });

  it('is of the kind that its status says', async () => {
    const shop = await http.shop();
    const cointill = await clientOf(shop, url);
    expect(await failure(cointill.orders.get('ord_01kadfw4t3f7vb8y2z6m5n9qrs'))).toBeInstanceOf(NotFoundError);
    expect(await failure(cointill.transactions.get('0b9f6f0e-3c1d-4d59-9f59-0f9d8a3d3a11'))).toBeInstanceOf(
      NotFoundError,
    );
    const reader = new Cointill({ key: await shop.key({ permission: 'read' }), url });
    expect(await failure(reader.orders.create(NEW))).toBeInstanceOf(PermissionError);
    const wrong = new Cointill({ key: `sk_test_${'a'.repeat(38)}`, url });
    expect(await failure(wrong.transactions.create({ amount: 1 }))).toBeInstanceOf(AuthenticationError);
  });
});

describe('calls with one idempotencyKey', () => {
  it('at the same time create one order: the others wait for its answer', async () => {
    const shop = await http.shop();
    const cointill = await clientOf(shop, url, { retries: 5 });
    const calls = Array.from({ length: 8 }, () => cointill.orders.create(NEW, { idempotencyKey: 'once' }));
    expect(new Set((await Promise.all(calls)).map(({ id }) => id)).size).toBe(1);
    expect((await cointill.orders.list().page()).pagination.total).toBe(1);
  });

  it('but different bodies are refused, and the error names the header', async () => {
    const cointill = await clientOf(await http.shop(), url);
    await cointill.transactions.create({ amount: 25 }, { idempotencyKey: 'once' });
    const again = cointill.transactions.create({ amount: 26 }, { idempotencyKey: 'once' });
    expect(await failure(again)).toMatchObject({ name: 'InvalidRequestError', field: 'Idempotency-Key' });
  });
});
