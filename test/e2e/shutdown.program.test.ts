import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { textAt } from '../../src/cli/program.fixture.ts';
import { receive, type LocalReceiver } from '../../src/webhooks/local-receivers.fixture.ts';
import { client, eventually, isAlive, testService, type TestService } from '../program.ts';

/** Supervisors wait ten seconds before they kill a service; doubled for a busy machine. */
const STOP_WITHIN_MS = 20_000;
const ORDER = { amount: 5, currency: 'USD', crypto_currency: 'LTC' };

/** A service with an endpoint whose receiver answers when it is told to, or never. */
async function openShop() {
  const service = await testService({ SANDBOX_COMPLETE_AFTER_SECONDS: '3600' });
  const held: ServerResponse[] = [];
  let isHolding = true;
  const receiver = await receive((response) => void (isHolding ? held.push(response) : response.writeHead(204).end()));
  onTestFinished(() => receiver.close());
  const { first, stop } = await service.start();
  if (first === null) throw new Error('The first start made no key.');
  const made = await service.command(
    `webhook create --project ${first.projectId} --mode test --events order.created --url http://127.0.0.1:${receiver.port}/`,
  );
  const answerAll = (): void => {
    isHolding = false;
    for (const response of held) response.writeHead(204).end();
  };
  return {
    service,
    receiver,
    held,
    answerAll,
    endpointId: textAt(made, 'id'),
    api: client(service.sandbox, first.key),
    stop,
    ...first,
  };
}

it('serves for DRAIN_SECONDS after the signal, while it says not to send more, and closes each connection', async () => {
  const service = await testService({ DRAIN_SECONDS: '3' });
  const { first, running } = await service.start();
  const order = client(service.sandbox, String(first?.key));
  const startedAt = performance.now();
  running.signal('SIGTERM');
  const refusal = await eventually('it is not ready', async () => {
    const ready = await fetch(`${service.live}/readyz`);
    return ready.status === 503 ? ready : null;
  });
  expect(refusal.headers.get('connection')).toBe('close');
  expect(await refusal.json()).toEqual({ status: 'not_ready', checks: { service: 'stopping' } });
  const made = await order('/v1/orders', ORDER);
  expect([made.status, made.headers.get('connection')]).toEqual([200, 'close']);
  expect((await running.ended).code).toBe(0);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(3_000);
});

/** Asks the service to stop; resolves with how it ended and how long that took. */
async function timed(stop: () => Promise<{ readonly code: number | null }>) {
  const startedAt = performance.now();
  const { code } = await stop();
  return { code, tookMs: performance.now() - startedAt };
}

/** Resolves when the service takes no new connections any more. */
function untilClosing(service: TestService): Promise<true> {
  return eventually('the service takes no new connections', async () =>
    (await refuses(service.sandbox)) ? true : null,
  );
}

function refuses(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', () => resolve(true));
  });
}

/** A request whose head has reached the service, which waits for the body. */
async function beginOrder(
  service: TestService,
  key: string,
): Promise<{ readonly socket: Socket; finish(): Promise<string> }> {
  const { port, host } = new URL(service.sandbox);
  const body = JSON.stringify(ORDER);
  const socket = connect(Number(port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  socket.write(
    `POST /v1/orders HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n` +
      `content-length: ${body.length}\r\nexpect: 100-continue\r\n\r\n`,
  );
  await eventually('the service asks for the body', () => (answer.startsWith('HTTP/1.1 100 ') ? true : null));
  return {
    socket,
    finish: async () => {
      socket.write(body);
      await closed;
      return answer;
    },
  };
}

function untilReceived(receiver: LocalReceiver, count: number): Promise<true> {
  return eventually(`the receiver has ${count} requests`, () => (receiver.requests.length >= count ? true : null));
}

describe('SIGTERM', () => {
  it('lets requests and deliveries under way finish, then ends with code 0 and stops the database', async () => {
    const { service, receiver, answerAll, endpointId, api, key, stop } = await openShop();
    const postmaster = await service.postmasterPid();
    expect((await api('/v1/orders', ORDER)).status).toBe(200);
    await untilReceived(receiver, 1);
    const request = await beginOrder(service, key);

    const ended = timed(stop);
    await untilClosing(service);
    const answer = await request.finish();
    expect(answer).toMatch(/\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
    const made = /"id":"(ord_\w+)"/.exec(answer)?.[1];
    answerAll();
    const { code, tookMs } = await ended;
    expect(code).toBe(0);
    expect(tookMs).toBeLessThan(STOP_WITHIN_MS);
    expect(isAlive(Number(postmaster))).toBe(false);

    // The commands start the database again and stop it: everything was saved.
    expect(await service.command(`payment show ${made}`)).toMatchObject({ id: made, status: 'pending' });
    const deliveries = await service.command(`webhook deliveries ${endpointId}`);
    const [newest, first] = Array.isArray(deliveries) ? deliveries : [];
    expect(first).toMatchObject({ state: 'delivered', attempts: 1, log: [{ response_status: 204 }] });
    // The other order's event is sent at once if there is time, otherwise after the next start.
    expect(newest).toMatchObject({ type: 'order.created' });
    expect(JSON.parse(textAt(newest, 'body'))).toMatchObject({ data: { id: made } });
    expect(await service.postmasterPid()).toBeNull();
  });

  it('waits for nobody longer than ten seconds: not for a receiver that never answers, nor a client that never ends', async () => {
    const { service, receiver, endpointId, api, key, stop } = await openShop();
    const postmaster = await service.postmasterPid();
    expect((await api('/v1/orders', ORDER)).status).toBe(200);
    await untilReceived(receiver, 1);
    await beginOrder(service, key);

    const { code, tookMs } = await timed(stop);
    expect(code).toBe(0);
    expect(tookMs).toBeLessThan(STOP_WITHIN_MS);
    expect(isAlive(Number(postmaster))).toBe(false);
    // A delivery that was not acknowledged stays due.
    expect(await service.command(`webhook deliveries ${endpointId}`)).toMatchObject([
      { state: 'waiting', next_attempt_at: expect.any(String) },
    ]);
  });

  it('leaves the embedded database to a command that still works with it, which stops it at its own end', async () => {
    const { service, receiver, held, endpointId, stop } = await openShop();
    const postmaster = await service.postmasterPid();
    const sent = await service.command(`webhook test ${endpointId} --type order.completed`);
    await untilReceived(receiver, 1);
    held[0]?.writeHead(500).end();
    await untilReceived(receiver, 2);
    held[1]?.writeHead(500).end();
    // A process of its own, as the service is.
    const retry = service.cointill.start('webhook', 'retry', textAt(sent, 'delivery_id'), '--json').ended;
    await untilReceived(receiver, 3);

    expect((await stop()).code).toBe(0);
    expect(await service.postmasterPid()).toBe(postmaster);
    held[2]?.writeHead(200).end();
    const { code, stdout } = await retry;
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, acknowledged: true, response_status: 200 });
    expect(await service.postmasterPid()).toBeNull();
  });
});
