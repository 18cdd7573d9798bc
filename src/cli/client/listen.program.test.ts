import { createServer } from 'node:http';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { expect, it, onTestFinished } from 'vitest';
import { isNight } from '../../../test/extent.ts';
import { client, eventually, freePort, testService, type TestService } from '../../../test/program.ts';
import { program, type Ended, type Program, type Running } from '../program.fixture.ts';

const EVENTS = isNight ? 1_000 : 100;
const KILLS = isNight ? 50 : 10;

interface Shop {
  readonly url: string;
  /** The verified events, as they came. */
  readonly events: { readonly id: string; readonly type: string }[];
  /** The status of the next answers. */
  answer: number;
}

/** A shop's server, with the verifier of Standard Webhooks. */
async function shopServer(secretOf: () => string, port = 0): Promise<Shop> {
  const events: { id: string; type: string }[] = [];
  const shop = { url: '', events, answer: 200 };
  const server = createServer((request, response) => {
    const answer = (body: Buffer): void => {
      new Webhook(secretOf()).verify(body, request.headers as Record<string, string>);
      if (shop.answer === 200) events.push(JSON.parse(body.toString()) as { id: string; type: string });
      response.writeHead(shop.answer, shop.answer === 302 ? { location: '/other' } : {}).end('the answer\nof the shop');
    };
    buffer(request).then(answer, () => response.destroy());
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close().closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  shop.url = `127.0.0.1:${address.port}/webhooks`;
  return shop;
}

function stop(running: Running): Promise<Ended> {
  running.signal('SIGINT');
  return running.ended;
}

/** A laptop: the commands with an address and a key, and nothing else. */
async function laptop(service: TestService, key: string): Promise<Program & { readonly state: string }> {
  const state = await mkdtemp(path.join(os.tmpdir(), 'cointill-state-'));
  onTestFinished(() => rm(state, { recursive: true, force: true }));
  const env = { COINTILL_URL: service.sandbox, COINTILL_KEY: key, XDG_STATE_HOME: state };
  return { ...(await program(env, 'process')), state };
}

async function started() {
  const service = await testService({ SANDBOX_COMPLETE_AFTER_SECONDS: '3600' });
  const { first } = await service.start();
  const key = first?.key ?? '';
  const call = client(service.sandbox, key);
  const order = async () => {
    const { body } = await call('/v1/orders', { amount: 25, currency: 'USD', crypto_currency: 'BTC' });
    return String(body['id']);
  };
  return { service, key, call, order, cointill: await laptop(service, key) };
}

it(`forwards what happened while it was off, in order, and repeats at most one event for each of ${KILLS} kills`, async () => {
  const { call, order, cointill } = await started();
  let secret = '';
  const shop = await shopServer(() => secret);
  const listen = () => cointill.start('listen', '--forward-to', shop.url);
  const first = listen();
  secret = (await first.waitFor(/signed with (whsec_\S+)/))[1] ?? '';
  await first.waitFor(/Waiting for the next event/);
  first.signal('SIGINT');
  expect((await first.ended).code).toBe(0);
  for (let made = 0; made < EVENTS; made += 1) await order();
  const { body } = await eventually('all events have a position', async () => {
    const page = await call('/v1/events?limit=500&after=now');
    return page.body['head'] === EVENTS ? page : null;
  });
  expect(body['head']).toBe(EVENTS);
  const ids = () => [...new Set(shop.events.map(({ id }) => id))];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const running = listen();
    const until = shop.events.length + 1 + (kill % 3);
    // A fast machine is through before the last kill.
    await eventually('it forwards', async () => shop.events.length >= until || ids().length === EVENTS || null);
    running.signal('SIGKILL');
    await running.ended;
  }
  const last = listen();
  await eventually('everything was forwarded', async () => ids().length === EVENTS || null);
  last.signal('SIGTERM');
  await last.ended;
  const log: string[] = [];
  for (let after = '0'; log.length < EVENTS;) {
    const page = await call(`/v1/events?limit=500&after=${after}`);
    log.push(...(page.body['data'] as { event: { id: string } }[]).map(({ event }) => event.id));
    after = String(page.body['next']);
  }
  expect(ids()).toEqual(log);
  expect(shop.events.length - EVENTS).toBeLessThanOrEqual(KILLS);
});

it('waits for a server that is down, and tells what a server refuses, which is sent again where that is asked for', async () => {
  const { order, cointill } = await started();
  let secret = '';
  const port = await freePort();
  const listen = () => cointill.start('listen', '--forward-to', `localhost:${port}/webhooks`);
  let running = listen();
  secret = (await running.waitFor(/signed with (whsec_\S+)/))[1] ?? '';
  await order();
  await running.waitFor(/ECONNREFUSED.*Waiting for your server/);
  await stop(running);
  running = listen();
  await running.waitFor(/1 event since #0[^]*ECONNREFUSED.*Waiting for your server/);
  const shop = await shopServer(() => secret, port);
  await running.waitFor(/Your server answers[^]*#1 {2}200 OK/);
  shop.answer = 500;
  await order();
  await running.waitFor(/#2 {2}500 Internal Server Error.*\n +evt_\w+: the answer\n/);
  shop.answer = 302;
  await order();
  await running.waitFor(/#3 {2}302 Found.*\n +evt_\w+: It redirects to \/other/);
  const { stdout } = await stop(running);
  const [, id = ''] = /did not accept (evt_\w+), evt_\w+\. Send one again/.exec(stdout) ?? [];
  shop.answer = 200;
  const again = await cointill.run('events', 'resend', id, '--forward-to', shop.url);
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('200 OK') });
  expect(shop.events.map((event) => event.id)).toContain(id);
  const retried = cointill.start('listen', '--forward-to', shop.url, '--retry', '--fail', '1', '--json');
  await retried.waitFor(/Waiting for the next event/);
  await order();
  await retried.waitFor(/"position":4.*"attempt":2,"accepted":true/);
  shop.answer = 500;
  await order();
  await retried.waitFor(/"position":5.*"attempt":2,"accepted":false/);
  expect(await stop(retried)).toMatchObject({ code: 0 });
});

it('runs once for each project, and says what is wrong with its file', async () => {
  const { cointill } = await started();
  const running = cointill.start('listen', '--forward-to', 'localhost:1');
  await running.waitFor(/Waiting for the next event/);
  const second = await cointill.run('listen', '--forward-to', 'localhost:1');
  expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining('Another cointill listen') });
  running.signal('SIGTERM');
  await running.ended;
  const folder = path.join(cointill.state, 'cointill');
  const [file = ''] = (await readdir(folder)).filter((name) => name.endsWith('.db'));
  await writeFile(path.join(folder, file), 'not a database at all, but longer than the header of one'.repeat(100));
  const broken = await cointill.run('listen', '--forward-to', 'localhost:1');
  expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining('Repair or delete the file') });
});

it('says when the service is away or the key is refused, and goes on', async () => {
  const service = await testService({ SANDBOX_COMPLETE_AFTER_SECONDS: '3600' });
  const one = await service.start();
  const key = one.first?.key ?? '';
  const cointill = await laptop(service, key);
  const running = cointill.start('events', 'tail');
  await running.waitFor(/Watching test events/);
  await one.kill();
  await running.waitFor(/does not answer.*Trying again/);
  const again = await service.start();
  await running.waitFor(/Connected again/);
  await client(service.sandbox, key)('/v1/orders', { amount: 25, currency: 'USD', crypto_currency: 'BTC' });
  await running.waitFor(/order\.created +ord_\w+ {2}#1/);
  await again.kill();
  const keys = (await service.command(`key list --project ${one.first?.projectId ?? ''}`)) as { readonly id: string }[];
  for (const { id } of keys) await service.command(`key revoke ${id}`);
  await service.start();
  expect((await running.waitFor(/The service refuses the key.*/))[0]).toContain('Trying again');
});

it('makes each event happen to an order of its own or of yours, and shows, lists and sends events again', async () => {
  const { order, cointill } = await started();
  const types = ['order.completed', 'order.cancelled', 'payment.wrong_asset', 'refund.created', 'refund.failed'];
  for (const type of types) {
    const { code, stdout } = await cointill.run('trigger', type);
    expect([type, code]).toEqual([type, 0]);
    expect(stdout).toMatch(new RegExp(`Created ord_\\w+[^]*${type.replace('.', '\\.')} +\\w+`));
  }
  const own = await order();
  const triggered = await cointill.json('trigger', 'order.expired', '--order', own);
  expect(triggered).toMatchObject({ payment: own, events: expect.arrayContaining([expect.anything()]) });
  const listed = (await cointill.json('events', 'list', '--payment', own)) as {
    readonly data: readonly { readonly event: { readonly id: string; readonly type: string } }[];
  };
  expect(listed.data.map(({ event }) => event.type)).toEqual(['order.created', 'order.expired']);
  const id = listed.data[0]?.event.id ?? '';
  expect((await cointill.run('events', 'get', '1')).stdout).toContain('#1');
  expect(await cointill.json('events', 'get', id)).toMatchObject({
    event: { id, type: 'order.created' },
    deliveries: [],
  });
  const wrong = [
    [['events', 'get', 'evt_x'], 1, 'There is no such event'],
    [['events', 'resend', id], 1, 'No webhook endpoint is on'],
    [['events', 'list', '--since', '-1'], 2, 'Give a position such as 41'],
    [['events', 'list', '--since', '1000'], 1, 'the log of this project and mode ends at'],
    [['trigger', 'payment.lost'], 1, 'happens to live payments alone'],
    [['trigger', 'order.created', '--order', own], 2, 'Leave out --order'],
    [['trigger', 'order.completed', '--order', own], 1, 'expired'],
    [['listen', '--forward-to', 'ftp://x'], 2, 'Give an address'],
    [['listen', '--events', 'order.paid'], 2, 'Give types such as order.completed'],
    [['listen', '--retry'], 2, '--retry works only with --forward-to'],
    [['events', 'get', '1000'], 1, 'ends at'],
  ] as const;
  for (const [args, code, message] of wrong) {
    expect(await cointill.run(...args)).toMatchObject({ code, stderr: expect.stringContaining(message) });
  }
});

it("passes a project's webhooks on from the service's own machine, with neither address nor key", async () => {
  const service = await testService({ SANDBOX_COMPLETE_AFTER_SECONDS: '3600' });
  const { first } = await service.start();
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(String(request.headers['webhook-id']));
    response.writeHead(204).end();
    request.resume();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close().closeAllConnections();
  });
  const address = server.address();
  const target = `127.0.0.1:${address === null || typeof address === 'string' ? 0 : address.port}`;
  const listener = service.cointill.start('listen', '--project', first?.projectId ?? '', '--forward-to', target);
  await listener.waitFor(/Registered as we_\w+/);
  const { body } = await client(service.sandbox, first?.key ?? '')('/v1/orders', {
    amount: 25,
    currency: 'USD',
    crypto_currency: 'BTC',
  });
  await listener.waitFor(new RegExp(`${String(body['id'])}[^]*Answered +204`));
  expect(seen).toHaveLength(1);
});
