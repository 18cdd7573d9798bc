import { parseEther } from 'viem';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { account, xpubOf } from '../../src/app/chains/follow-chain.fixture.ts';
import { textAt } from '../../src/cli/program.fixture.ts';
import { startAnvil, type Anvil } from '../anvil.ts';
import { client, eventually } from '../program.ts';
import {
  liveService,
  mined,
  SOON,
  startGate,
  type Fields,
  type Gate,
  type LiveService,
  type Shop,
} from './live-evm.fixture.ts';
import type { Running } from './started-program.fixture.ts';

let anvil: Anvil;
let gate: Gate;
let service: LiveService;
let running: Running;
let shop: Shop;
/** With a key of its own, to be looked for. */
let call: ReturnType<typeof client>;
let key: string;
let secret: string;

const CUSTOMER = {
  customer_email: 'ada@secret.example',
  metadata: { seat: 'meta-s3cret' },
  description: 'desc-s3cret',
};

beforeAll(async () => {
  anvil = await startAnvil();
  await anvil.mine(10);
  gate = await startGate(anvil);
  const url = gate.url.replace('http://', 'http://rpcuser:rpc-s3cret@');
  const settings = {
    ETHEREUM_RPC_URL: `${url}/v3/path-s3cret`,
    LOG_LEVEL: 'debug',
    METRICS_TOKEN: 'metrics-s3cret-of-a-test',
  };
  service = await liveService(settings, 'processes');
  running = await service.start({ DATABASE_URL: service.database.url.replace('@', ':db-s3cret@') });
  shop = await service.shop(`--network ethereum --confirmations 2 --xpub ${xpubOf(account(1))}`);
  const { projectId } = shop;
  const command = `key create --project ${projectId} --mode live --kind secret --permission full --name Other`;
  key = textAt(await service.command(command), 'key');
  call = client(service.url, key);
  // Nothing listens there.
  const dead = 'https://localhost:1/hook-s3cret?token=query-s3cret';
  const endpoint = `webhook create --project ${projectId} --mode live --events order.completed --url ${dead}`;
  secret = textAt(await service.command(endpoint), 'secret');
});

afterAll(async () => {
  await service?.close();
  await gate?.stop();
  await anvil?.stop();
});

/** The lines of the log so far; whatever else is written is no JSON. */
function lines(): readonly Fields[] {
  const whole = running.text().split('\n').slice(0, -1);
  return whole.filter((line) => line.startsWith('{')).map((line): Fields => JSON.parse(line));
}

function untilLine(what: string, is: (line: Fields) => boolean): Promise<Fields> {
  return eventually(what, () => lines().find(is) ?? null);
}

const about = (id: unknown) => (line: Fields) => line['payment'] === id;

it('a live order’s life is logged in order, with the ids that the merchant knows and the requests that they sent', async () => {
  const body = { amount: 30, currency: 'USD', crypto_currency: 'ETH', ...CUSTOMER };
  const created = await call('/v1/orders', body, { 'x-request-id': 'shop-req-1' });
  expect([created.status, created.headers.get('x-request-id')]).toEqual([200, 'shop-req-1']);
  const id = textAt(created.body, 'id');
  const order = { id, address: textAt((await call(`/v1/orders/${id}`)).body, 'address') };
  const hash = await mined(anvil, anvil.transfer(order.address, parseEther('0.01')));
  await expect.poll(() => shop.read(order), SOON).toMatchObject({ status: 'confirming' });
  await anvil.mine(1);
  await expect.poll(() => shop.read(order), SOON).toMatchObject({ status: 'completed' });
  const refunded = await call('/v1/refunds', { order_id: id }, { 'x-request-id': 'shop-req-2' });
  expect(refunded.status).toBe(200);
  await untilLine('the refund is delivered', (line) => line['type'] === 'refund.created');

  const life = lines().filter((line) => about(id)(line) && line['outcome'] !== 'no_answer');
  const told = life.map(({ kind, type, to, outcome, request }) =>
    [kind, type ?? to, outcome, request].flatMap((part) => (typeof part === 'string' ? [part] : [])).join(' '),
  );
  // Deliveries run beside the transitions, in no fixed order.
  expect(told.filter((one) => !one.startsWith('delivery_attempt'))).toEqual([
    'payment_created shop-req-1',
    'payment_transition processing',
    'payment_transition confirming',
    'payment_transition completed',
    'refund shop-req-2',
  ]);
  expect(told.filter((one) => one.startsWith('delivery_attempt'))).toEqual([
    'delivery_attempt order.created delivered shop-req-1',
    'delivery_attempt order.confirming delivered',
    'delivery_attempt order.completed delivered',
    'delivery_attempt refund.created delivered shop-req-2',
  ]);
  expect(life.findLast(({ kind }) => kind === 'payment_transition')).toMatchObject({
    level: 30,
    project: shop.projectId,
    mode: 'live',
    network: 'ethereum',
    asset: 'ETH',
    from: 'confirming',
    owed: '0.01',
    received: '0.01',
    confirmed: '0.01',
    transaction: hash,
    age_ms: expect.any(Number),
  });
  expect(
    lines()
      .filter(({ request }) => request === 'shop-req-1')
      .map(({ kind }) => kind),
  ).toEqual(expect.arrayContaining(['request', 'payment_created', 'delivery_attempt']));
  expect(
    await untilLine('the request', ({ request, kind }) => kind === 'request' && request === 'shop-req-1'),
  ).toMatchObject({
    method: 'POST',
    route: '/v1/orders',
    path: '/v1/orders',
    status: 200,
    duration_ms: expect.any(Number),
  });
});

it('a reorganisation that takes a payment back is logged, and so are its consequences for the payment', async () => {
  const order = await shop.order(CUSTOMER);
  await mined(anvil, anvil.transfer(order.address, parseEther('0.01')));
  await expect.poll(() => shop.read(order), SOON).toMatchObject({ status: 'confirming' });
  await anvil.rpc('anvil_reorg', [1, []]);
  await anvil.mine(1);
  await expect.poll(() => shop.read(order), SOON).toMatchObject({ status: 'pending' });
  expect(await untilLine('the rollback', ({ kind }) => kind === 'chain_rollback')).toMatchObject({
    level: 40,
    network: 'ethereum',
    blocks: 1,
    payments: 1,
  });
  const steps = (): readonly unknown[] =>
    lines()
      .filter((line) => about(order.id)(line) && line['kind'] === 'payment_transition')
      .map(({ to }) => to);
  await expect.poll(steps, SOON).toEqual(['processing', 'confirming', 'pending']);
});

it('a node that fails and its recovery are logged without a stack; an endpoint that is dead is named by its host', async () => {
  gate.intercept(() => ({ status: 503 }));
  const isNode = ({ subject }: Fields): boolean => subject === `ethereum node ${gate.url}`;
  const began = await untilLine('the problem', (line) => isNode(line) && line['kind'] === 'trouble');
  expect(began).toMatchObject({ level: 40, network: 'ethereum', node: gate.url, problem: expect.any(String) });
  expect(began).not.toHaveProperty('err');
  gate.intercept(() => null);
  const over = await untilLine('its end', (line) => isNode(line) && line['kind'] === 'trouble_over');
  expect(over).toMatchObject({ level: 30, times: expect.any(Number), lasted_ms: expect.any(Number) });
  expect(over['msg']).toMatch(/: working again after \d+ (?:ms|s|m)/);
  // Each failure is counted, but has no line of its own.
  expect(lines().filter((line) => isNode(line) && line['kind'] === 'trouble')).toHaveLength(1);
  expect(
    await untilLine('the endpoint', ({ kind, host }) => kind === 'trouble' && host === 'localhost:1'),
  ).toMatchObject({
    level: 40,
    problem: expect.stringContaining('ECONNREFUSED'),
  });
});

it('nothing that was written holds a secret or anything of the customer', async () => {
  // Failures are logged in the most detail.
  await call('/v1/orders?secret=query-s3cret', { amount: 'invalid', ...CUSTOMER });
  await fetch(`${service.url}/metrics`, { headers: { authorization: 'Bearer metrics-s3cret-of-a-test' } });
  await expect(running.end('SIGTERM')).resolves.toBe(0);
  const text = running.text();
  expect(lines().length).toBeGreaterThan(20);
  for (const one of [key, key.slice(8), secret, secret.slice(6)]) expect(text).not.toContain(one);
  expect(text.match(/\S*(?:s3cret|ada@|rpcuser|secret\.example)\S*/g) ?? []).toEqual([]);
});
