import { expect, it, onTestFinished } from 'vitest';
import { textAt } from '../../src/cli/program.fixture.ts';
import { receive, type LocalReceiver } from '../../src/webhooks/local-receivers.fixture.ts';
import { testDatabase } from '../database.ts';
import { client, eventOf, eventually, testService, type Answer, type TestService } from '../program.ts';
import { PROMPT_MS } from '../deadline.ts';

const ORDER = { amount: 12.5, currency: 'USD', crypto_currency: 'USDC', network: 'ethereum' };

async function started(env: Readonly<Record<string, string>> = {}) {
  const service = await testService({ SANDBOX_COMPLETE_AFTER_SECONDS: '3600', ...env });
  const { first, stop } = await service.start();
  return { service, stop, projectId: first?.projectId ?? '', key: first?.key ?? '' };
}

/** Resolves when every one of the calls is answered with the status; throws when that takes longer than `PROMPT_MS`. */
async function untilAll(status: number, calls: readonly (() => Promise<Answer>)[]): Promise<readonly Answer[]> {
  return eventually(
    `all answer ${status}`,
    async () => {
      const answers = await Promise.all(calls.map((call) => call()));
      return answers.every((answer) => answer.status === status) ? answers : null;
    },
    PROMPT_MS,
  );
}

it('what a command changes of keys and projects holds on two running processes at once', async () => {
  const { service, projectId } = await started();
  const other = await started({ DATABASE_URL: await service.databaseUrl(), ROLE: 'api' });
  expect(other.key).toBe('');
  const made = await service.command(
    `key create --project ${projectId} --mode test --kind secret --permission read --name Reports`,
  );
  const sandboxes = [service.sandbox, other.service.sandbox].map((url) => client(url, textAt(made, 'key')));
  const orders = sandboxes.map((api) => () => api('/v1/orders'));
  const transactions = sandboxes.map((api) => () => api('/api/transactions/stats'));
  await untilAll(200, [...orders, ...transactions]);

  await service.command(`project deactivate ${projectId}`);
  for (const { body } of await untilAll(403, orders)) {
    expect(body).toEqual({ error: { type: 'permission_error', message: 'The project is not active.' } });
  }
  for (const { body } of await untilAll(403, transactions)) {
    expect(body).toEqual({ success: false, message: 'The project is not active.' });
  }
  await other.service.command(`project activate ${projectId}`);
  await untilAll(200, [...orders, ...transactions]);

  await service.command(`project set ${projectId} --allow-ips 203.0.113.0/24,2001:db8::/32`);
  for (const { body } of await untilAll(403, [...orders, ...transactions])) {
    expect(body).toMatchObject({ error: { type: 'permission_error' } });
  }
  await service.cointill.json('project', 'set', projectId, '--allow-ips', '');
  await untilAll(200, orders);

  expect(await service.command(`key revoke ${textAt(made, 'id')}`)).toMatchObject({ revoked: true });
  for (const { body } of await untilAll(401, [...orders, ...transactions])) {
    expect(body).toEqual({ error: { type: 'authentication_error', message: 'Invalid API key.' } });
  }
});

/** The types of the events that came for a payment, in their order. */
function told(shop: LocalReceiver, id: string): readonly string[] {
  return shop.requests
    .map(eventOf)
    .filter(({ data }) => data.id === id)
    .toSorted((a, b) => a.sequence - b.sequence)
    .map(({ type }) => type);
}

async function untilTold(shop: LocalReceiver, id: string, types: readonly string[]): Promise<void> {
  await eventually(`${types.join(', ')} of ${id}`, () => (told(shop, id).length >= types.length ? true : null));
  expect(told(shop, id)).toEqual(types);
}

async function openShop(env: Readonly<Record<string, string>> = {}, status: () => number = () => 200) {
  const parts = await started(env);
  const shop = await receive((response) => void response.writeHead(status()).end());
  onTestFinished(() => shop.close());
  const endpoint = await parts.service.command(
    `webhook create --project ${parts.projectId} --mode test --events all,order.cancelled,order.exception --url http://127.0.0.1:${shop.port}/`,
  );
  const api = client(parts.service.sandbox, parts.key);
  const order = async (): Promise<string> => textAt((await api('/v1/orders', ORDER)).body, 'id');
  return { ...parts, shop, endpointId: textAt(endpoint, 'id'), api, order };
}

it('payments are completed, simulated, accepted and cancelled by commands; the service shows and publishes it at once', async () => {
  const { url } = await testDatabase();
  const { service, shop, api, order } = await openShop({ DATABASE_URL: url });
  const created = 'order.created';
  const confirmed = [created, 'order.confirming', 'order.completed'];
  const exception = 'order.exception';
  const cases = [
    { commands: ['complete'], status: 'completed', exception: 'none', events: [created, 'order.completed'] },
    { commands: ['cancel'], status: 'cancelled', exception: 'none', events: [created, 'order.cancelled'] },
    { commands: ['simulate paid'], status: 'completed', exception: 'none', events: confirmed },
    { commands: ['simulate over'], status: 'completed', exception: 'overpaid', events: [...confirmed, exception] },
    { commands: ['simulate expired'], status: 'expired', exception: 'none', events: [created, 'order.expired'] },
    { commands: ['simulate part'], status: 'pending', exception: 'underpaid', events: [created, exception] },
    {
      commands: ['simulate part', 'accept'],
      status: 'completed',
      exception: 'underpaid',
      events: [created, exception, 'order.completed'],
    },
    {
      commands: ['simulate late', 'accept'],
      status: 'completed',
      exception: 'paid_late',
      events: [created, 'order.expired', exception, 'order.completed'],
    },
  ];
  const run = async (test: (typeof cases)[number]): Promise<void> => {
    const id = await order();
    for (const words of test.commands) {
      const [action = '', outcome = ''] = words.split(' ');
      await service.command(`payment ${action} ${id} ${outcome}`.trim());
    }
    const { body } = await api(`/v1/orders/${id}`);
    expect(body).toMatchObject({ id, status: test.status, exception: test.exception });
    expect(await service.command(`payment show ${id}`)).toMatchObject({ id, status: test.status });
    await untilTold(shop, id, test.events);
  };
  // Two at a time, one per processor.
  await Promise.all(
    [0, 1].map(async (half) => {
      for (const [index, test] of cases.entries()) if (index % 2 === half) await run(test);
    }),
  );

  const transaction = await api('/api/transactions/create', { amount: 3, order_id: 'SHOP-3' });
  const id = textAt(transaction.body['transaction'], 'id');
  await service.command(`payment complete ${id}`);
  expect((await api(`/api/transactions/${id}`)).body).toMatchObject({
    transaction: { status: 'completed', crypto_currency: 'BTC' },
  });
  await untilTold(shop, id, [created, 'order.completed']);
});

it('an endpoint that answers 410 is sent nothing more until a command enables it', async () => {
  const { url, db } = await testDatabase();
  let status = 410;
  const { service, shop, endpointId, order } = await openShop({ DATABASE_URL: url }, () => status);
  const refused = await order();
  await eventually('the endpoint is disabled', async () => {
    const row = await db.selectFrom('webhook_endpoints').select('disabled_at').executeTakeFirstOrThrow();
    return row.disabled_at === null ? null : true;
  });
  expect(await service.command('webhook list')).toMatchObject([
    { id: endpointId, disabled_at: expect.any(String), disabled_reason: 'The endpoint answered 410 Gone.' },
  ]);
  const missed = await order();
  expect(await service.command(`webhook deliveries ${endpointId}`)).toMatchObject([
    { state: 'stopped', next_attempt_at: null, log: [{ response_status: 410 }] },
  ]);

  status = 200;
  expect(await service.command(`webhook enable ${endpointId}`)).toEqual({ id: endpointId, enabled: true });
  await untilTold(shop, await order(), ['order.created']);
  expect(told(shop, missed)).toEqual([]);
  const [, stopped] = (await service.command(`webhook deliveries ${endpointId}`)) as readonly unknown[];
  expect(await service.command(`webhook retry ${textAt(stopped, 'id')}`)).toMatchObject({ acknowledged: true });
  expect(told(shop, refused)).toEqual(['order.created', 'order.created']);
});

it('commands work while the service does not run, and it continues from what they did', async () => {
  const { service, stop, projectId, shop, order } = await openShop();
  const id = await order();
  await untilTold(shop, id, ['order.created']);
  expect((await stop()).code).toBe(0);

  const key = await service.command(
    `key create --project ${projectId} --mode test --kind secret --permission full --name Night`,
  );
  expect(await service.command(`payment complete ${id}`)).toMatchObject({ id, status: 'completed' });
  expect(await service.postmasterPid()).toBeNull();

  await service.start();
  await untilTold(shop, id, ['order.created', 'order.completed']);
  const read = await client(service.sandbox, textAt(key, 'key'))(`/v1/orders/${id}`);
  expect(read).toMatchObject({ status: 200, body: { id, status: 'completed' } });
  await expectQuiet(service, shop);
});

/** Checks that nothing more is due, so that all events have been delivered. */
async function expectQuiet(service: TestService, shop: LocalReceiver): Promise<void> {
  const { db } = await service.openDatabase();
  await eventually('nothing is due', async () => {
    const due = await db.selectFrom('deliveries').select('id').where('state', '=', 'waiting').execute();
    return due.length === 0 ? true : null;
  });
  const events = await db.selectFrom('events').select('id').execute();
  expect(shop.requests).toHaveLength(events.length);
}
