import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import * as sdk from '../../packages/sdk/src/index.ts';
import { numberDue } from '../../src/app/webhooks/number-events.ts';
import { webhookApp } from '../../src/app/webhooks/webhooks.fixture.ts';
import { httpTest } from '../http.ts';
import { clientOf, listenOn } from './service.fixture.ts';

const PACKAGE = path.join(import.meta.dirname, '../../packages/sdk');
const http = await httpTest();
const url = await listenOn(http.server('test'));
afterAll(() => http.close());

interface Example {
  readonly where: string;
  readonly code: string;
}

/** The code of all documents and of all comments. */
function examples(): readonly Example[] {
  const read = (file: string): string => readFileSync(path.join(PACKAGE, file), 'utf8');
  const documents = ['README.md', 'SKILL.md', '../../docs/guide/sdk.md'].flatMap((file) =>
    Array.from(read(file).matchAll(/^```ts\n([\s\S]*?)^```/gm), ([, code = ''], index) => ({
      where: `${file} ${index + 1}`,
      code,
    })),
  );
  const comments = globSync('src/*.ts', { cwd: PACKAGE }).flatMap((file) =>
    Array.from(
      read(file).matchAll(/@example\n([\s\S]*?)\*\/\s*(?:export )?(?:async )?(?:class |function |type )?(\w+)/g),
      ([, code = '', name = '']) => ({
        where: `${file} ${name}`,
        code: code.replace(/^\s*\* ?/gm, ''),
      }),
    ),
  );
  return [...documents, ...comments];
}

/** The values that examples take from the program around them. */
async function surroundings(code: string) {
  const shop = await http.shop();
  const { register } = await webhookApp({ app: http.app });
  if (/resend/.test(code)) await register('http://127.0.0.1:9/', { projectId: shop.projectId, events: 'all' });
  const cointill = await clientOf(shop, url);
  const isPaid = /refund/.test(code);
  const order = await cointill.orders.create({ amount: 25, currency: 'USD', crypto_currency: 'BTC' });
  const transaction = await cointill.transactions.create({ amount: 25 });
  const paymentRequest = await cointill.paymentRequests.create({ title: 'Tea', amount: 25, currency: 'EUR' });
  const invoice = await cointill.invoices.create({ amount: 25, currency: 'EUR' });
  if (isPaid) await cointill.test.simulate(order.id, { outcome: 'paid' });
  if (/\.accept\(/.test(code)) {
    await cointill.test.simulate(order.id, { outcome: 'part' });
    await cointill.test.simulate(transaction.id, { outcome: 'part' });
    await cointill.test.simulate(invoice.id, { outcome: 'part' });
  }
  const refund =
    isPaid && !/refunds\.create/.test(code) ? await cointill.refunds.create({ order_id: order.id }) : undefined;
  while (await numberDue(http.app));
  const { data } = await cointill.events.list();
  const [entry] = data;
  const event = entry !== undefined && 'event' in entry ? entry.event : undefined;
  const secret = `whsec_${btoa('the secret of this endpoint 1234')}`;
  const request = await sdk.signedRequest({ type: 'order.completed', secret });
  return {
    ...sdk,
    cointill,
    key: await shop.key(),
    url,
    order,
    transaction,
    invoice,
    paymentRequest,
    refund,
    event,
    eventId: event?.id,
    projectId: shop.projectId,
    secret,
    formerSecret: secret,
    request,
    rawBody: await request.clone().text(),
    headers: request.headers,
    lastPosition: () => Promise.resolve(null),
    savePosition: () => Promise.resolve(),
    deliver: () => Promise.resolve(),
    process: { env: { COINTILL_KEY: await shop.key(), COINTILL_URL: url, WEBHOOK_SECRET: secret } },
    console: { log: () => {} },
  };
}

const all = examples();

it('every public name has an example', () => {
  const values: readonly unknown[] = Object.values(sdk);
  const methods = values
    .filter((value): value is new () => object => typeof value === 'function')
    .filter(({ prototype }) => !(prototype instanceof Error))
    .flatMap(({ name, prototype }) => [name, ...Object.getOwnPropertyNames(prototype ?? {})])
    .filter((name) => name !== 'constructor');
  const text = all.map(({ code }) => code).join('\n');
  expect(methods.filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
});

it.each(all)('the example of $where runs', async ({ code }) => {
  const given: Readonly<Record<string, unknown>> = await surroundings(code);
  const body = code.replace(/^import .*$/gm, '');
  const own = [...body.matchAll(/^(?:const|let|async function|function) (?:\{ ([\w, ]+) \}|(\w+))/gm)].flatMap(
    ([, many, one]) => (many ?? one ?? '').split(', '),
  );
  const names = Object.keys(given).filter((name) => !own.includes(name));
  const AsyncFunction = (async () => {}).constructor as new (
    ...parts: readonly string[]
  ) => (...values: readonly unknown[]) => Promise<unknown>;
  const calls = own.includes('webhook') ? '\nreturn webhook(request);' : '';
  const values = names.map((name) => given[name]);
  await expect(new AsyncFunction(...names, body + calls)(...values)).resolves.not.toThrow();
});
