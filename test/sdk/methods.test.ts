import { expect, it } from 'vitest';
import type { Operations } from '../../packages/sdk/src/api.generated.ts';
import { Cointill } from '../../packages/sdk/src/index.ts';

type Route = keyof Operations;
type MethodName = {
  [Part in keyof Cointill]: `${Part}.${Extract<keyof Cointill[Part], string>}`;
}[keyof Cointill];

/** Methods that make no call of their own. */
const HELPERS = ['events.consume', 'webhooks.verify', 'test.signedRequest'] as const satisfies readonly MethodName[];

/** The method of each operation: an operation of docs/openapi.json without one does not compile. */
const METHODS = {
  'POST /v1/orders': 'orders.create',
  'GET /v1/orders': 'orders.list',
  'GET /v1/orders/{id}': 'orders.get',
  'POST /v1/orders/{id}/cancel': 'orders.cancel',
  'POST /v1/orders/{id}/accept': 'orders.accept',
  'POST /v1/orders/{id}/simulate': 'test.simulate',
  'POST /v1/orders/{id}/advance': 'test.advance',
  'POST /v1/invoices': 'invoices.create',
  'GET /v1/invoices': 'invoices.list',
  'GET /v1/invoices/{id}': 'invoices.get',
  'POST /v1/invoices/{id}/cancel': 'invoices.cancel',
  'POST /v1/invoices/{id}/accept': 'invoices.accept',
  'POST /v1/invoices/{id}/complete': 'test.complete',
  'POST /v1/invoices/{id}/simulate': 'test.simulate',
  'POST /v1/invoices/{id}/advance': 'test.advance',
  'POST /v1/payment_requests': 'paymentRequests.create',
  'GET /v1/payment_requests': 'paymentRequests.list',
  'GET /v1/payment_requests/{id}': 'paymentRequests.get',
  'POST /v1/payment_requests/{id}/close': 'paymentRequests.close',
  'POST /api/transactions/create': 'transactions.create',
  'GET /api/transactions/project/{projectId}': 'transactions.list',
  'GET /api/transactions/{id}': 'transactions.get',
  'GET /api/transactions/stats': 'transactions.stats',
  'POST /api/transactions/{id}/cancel': 'transactions.cancel',
  'POST /api/transactions/{id}/accept': 'transactions.accept',
  'POST /api/transactions/{id}/simulate': 'test.simulate',
  'POST /api/transactions/{id}/advance': 'test.advance',
  'POST /v1/refunds': 'refunds.create',
  'GET /v1/refunds': 'refunds.list',
  'GET /v1/refunds/{id}': 'refunds.get',
  'POST /v1/refunds/{id}/cancel': 'refunds.cancel',
  'GET /v1/events': 'events.list',
  'GET /v1/events/{id}': 'events.get',
  'POST /v1/events/{id}/resend': 'events.resend',
} as const satisfies Readonly<Record<Route, MethodName>>;

/** Never compiles with a method that serves no operation. */
type Idle = Exclude<MethodName, (typeof METHODS)[Route] | (typeof HELPERS)[number]>;
const idle: [Idle] extends [never] ? true : Idle = true;

const ID = {
  v1: 'ord_01kadfw4t3f7vb8y2z6m5n9qrs',
  invoice: 'inv_01kadfw4t3f7vb8y2z6m5n9qrs',
  api: '0b9f6f0e-3c1d-4d59-9f59-0f9d8a3d3a11',
};
const PAGE = {
  success: true,
  data: [],
  transactions: [],
  pagination: { has_more: false, offset: 0, limit: 1, total: 0 },
};

it('no method serves no operation', () => {
  expect(idle).toBe(true);
});

it.each(Object.entries(METHODS))('%s is called by %s, by no other path and method', async (route, name) => {
  const [method = '', template = ''] = route.split(' ');
  const id = template.startsWith('/v1/invoices') ? ID.invoice : template.startsWith('/v1') ? ID.v1 : ID.api;
  const calls: string[] = [];
  const cointill = new Cointill({
    key: `sk_test_${'a'.repeat(38)}`,
    url: 'https://pay.example',
    fetch: (input, init) => {
      calls.push(`${init?.method ?? ''} ${new Request(input).url}`);
      return Promise.resolve(Response.json(PAGE));
    },
  });
  const [part = '', call = ''] = name.split('.');
  const resource: unknown = Reflect.get(cointill, part);
  const run = Reflect.get(Object(resource), call) as (...given: readonly unknown[]) => unknown;
  const hasId = template.includes('{');
  const result: unknown = await run.apply(resource, hasId ? [id, {}] : [{}]);
  if (call === 'list' && part !== 'events') await (result as { page(): Promise<unknown> }).page();
  expect(calls).toEqual([`${method} https://pay.example${template.replace(/\{\w+\}/, id)}`]);
});
