import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { newPayment } from '../../../test/harness.ts';
import { encodeId } from '../../domain/id.ts';
import { verifyServiceSignature } from '../../webhooks/signature.ts';
import { cancelPayment } from '../payments/payment-actions.ts';
import { simulatePayment } from '../payments/simulate-payment.ts';
import { createProject } from '../projects/projects.ts';
import {
  sendingBacklog,
  eventDueTo,
  deliverAll,
  insertBacklog,
  shop,
  webhookApp,
  type Shop,
} from './webhooks.fixture.ts';

const MINUTE_MS = 60_000;

const typesAt = (receiver: Shop): readonly string[] =>
  receiver.requests.map(({ body }) => (JSON.parse(body) as { type: string }).type).toSorted();

describe('an event that was committed with its payment', () => {
  it('reaches every endpoint as one byte string that both signatures verify, at every attempt', async () => {
    const { app, deliverer, register, log } = await webhookApp();
    app.clock.set(Date.now());
    let failing = true;
    const first = await shop((response) => response.writeHead(failing ? 500 : 200).end());
    const second = await shop();
    const [one, two] = [await register(first.url), await register(second.url)];
    const payment = await app.pay({ merchantOrderId: 'Grüße €' });
    await deliverAll(app, deliverer());
    failing = false;
    app.clock.advance(MINUTE_MS);
    await deliverAll(app, deliverer());

    const event = await app.db.selectFrom('events').selectAll().executeTakeFirstOrThrow();
    expect(JSON.parse(event.body)).toMatchObject({
      type: 'order.created',
      data: { id: encodeId('order', payment.id), metadata: { order_id: 'Grüße €' } },
    });
    expect(first.requests).toHaveLength(3);
    expect(second.requests).toHaveLength(1);
    for (const [requests, secret] of [
      [first.requests, one.secret],
      [second.requests, two.secret],
    ] as const) {
      for (const { headers, body } of requests) {
        expect(body).toBe(event.body);
        expect(headers['webhook-id']).toBe(encodeId('event', event.id));
        expect(new Webhook(secret).verify(body, { ...headers } as Record<string, string>)).toEqual(JSON.parse(body));
        expect(verifyServiceSignature(secret, body, String(headers['x-service-signature']))).toBe(true);
      }
    }
    const delivered = { state: 'delivered', nextAttemptAt: null, eventId: event.id, body: event.body };
    expect(await log(one.id)).toMatchObject([{ ...delivered, attempts: 3, deliveredAt: app.clock() }]);
    expect(await log(two.id)).toMatchObject([{ ...delivered, attempts: 1 }]);
  });

  it('goes only to endpoints of its project and mode that asked for its type, and opt-in types only by name', async () => {
    const { app, deliverer, register } = await webhookApp();
    const another = await createProject(app, 'Another shop');
    if (another.kind !== 'done') throw new Error(another.code);
    const [all, completed, cancelled, live, foreign] = [
      await shop(),
      await shop(),
      await shop(),
      await shop(),
      await shop(),
    ];
    await register(all.url);
    await register(completed.url, { events: 'order.completed' });
    await register(cancelled.url, { events: 'order.cancelled, order.exception' });
    await register(live.url, { mode: 'live' });
    await register(foreign.url, { projectId: another.project.id });
    await simulatePayment(app, { id: (await app.pay()).id }, 'over');
    await cancelPayment(app, { id: (await app.pay()).id });
    await app.pay({ mode: 'live' });
    await deliverAll(app, deliverer());

    expect(typesAt(all)).toEqual(['order.completed', 'order.confirming', 'order.created', 'order.created']);
    expect(typesAt(completed)).toEqual(['order.completed']);
    expect(typesAt(cancelled)).toEqual(['order.cancelled', 'order.exception']);
    expect(typesAt(live)).toEqual(['order.created']);
    expect(typesAt(foreign)).toEqual([]);
  });

  it('that a process with a clock an hour ahead made is sent at once by one whose clock is right', async () => {
    const { app, deliverer, register } = await webhookApp();
    const receiver = await shop();
    await register(receiver.url);
    app.clock.set(Date.now() + 60 * MINUTE_MS);
    await app.pay();
    // A second for the database's clock to pass the process's.
    app.clock.set(Date.now() + 1_000);
    await deliverAll(app, deliverer());
    expect(typesAt(receiver)).toEqual(['order.created']);
  });

  it('is not sent when its payment was not saved', async () => {
    const { app, deliverer, register } = await webhookApp();
    const receiver = await shop();
    const { id } = await register(receiver.url);
    const unsaved = app.creator.create(newPayment(app.projectId, { description: 'NUL \0' }), () => '', null);
    await expect(unsaved).rejects.toThrow('Unicode');
    await deliverAll(app, deliverer());
    expect(receiver.requests).toHaveLength(0);
    expect(await app.db.selectFrom('deliveries').selectAll().where('endpoint_id', '=', id).execute()).toEqual([]);
  });
});

describe('the schedule', () => {
  it('makes ten attempts, each counted from the end of the failed one, whichever process makes them, and gives up', async () => {
    const { app, deliverer, register, log } = await webhookApp();
    const receiver = await shop((response) => {
      app.clock.advance(700);
      response.writeHead(503).end('later');
    });
    const { id } = await register(receiver.url);
    await app.pay();
    const createdAt = app.clock();
    const waitsMinutes = [0, 1, 5, 30, 2 * 60, 6 * 60, 12 * 60, 24 * 60, 24 * 60];
    for (const [index, waitMinutes] of waitsMinutes.entries()) {
      const beforeRestart = deliverer();
      await beforeRestart.takeDue();
      await beforeRestart.idle();
      const dueAt = app.clock() + waitMinutes * MINUTE_MS;
      expect(await log(id)).toMatchObject([{ state: 'waiting', attempts: index + 1, nextAttemptAt: dueAt }]);
      const afterRestart = deliverer();
      if (waitMinutes > 0) app.clock.set(dueAt - 1);
      if (waitMinutes > 0) await afterRestart.takeDue();
      await afterRestart.idle();
      expect(receiver.requests).toHaveLength(index + 1);
      app.clock.set(dueAt);
    }
    expect(app.clock() - createdAt).toBe((68 * 60 + 36) * MINUTE_MS + 9 * 700);
    await deliverAll(app, deliverer());
    expect(await log(id)).toMatchObject([{ state: 'failed', attempts: 10, nextAttemptAt: null, deliveredAt: null }]);
    app.clock.advance(30 * 24 * 60 * MINUTE_MS);
    await deliverAll(app, deliverer());
    expect(receiver.requests).toHaveLength(10);
  });

  it('ends with the first acknowledgement, which any 2xx is and no redirect', async () => {
    const { app, deliverer, register, log } = await webhookApp();
    const answers = [302, 400, 204];
    const receiver = await shop((response) => response.writeHead(answers.shift() ?? 500, { location: '/' }).end());
    const { id } = await register(receiver.url);
    await app.pay();
    await deliverAll(app, deliverer());
    app.clock.advance(MINUTE_MS);
    await deliverAll(app, deliverer());
    app.clock.advance(30 * 24 * 60 * MINUTE_MS);
    await deliverAll(app, deliverer());
    expect(receiver.requests).toHaveLength(3);
    expect(await log(id)).toMatchObject([{ state: 'delivered', attempts: 3, nextAttemptAt: null }]);
  });
});

describe('an endpoint that answers 410', () => {
  it('is disabled, and what waits for it stops', async () => {
    const { app, deliverer, register, log } = await webhookApp();
    const gone = await shop((response) => response.writeHead(410).end());
    const healthy = await shop();
    const { id, endpoint } = await register(gone.url);
    await insertBacklog(app, endpoint, 40);
    await register(healthy.url);
    await deliverAll(app, deliverer());
    // Deliveries that were under way beside the first answer, and none after it.
    expect(gone.requests.length).toBeLessThanOrEqual(8);
    const states = (await log(id)).map(({ state, nextAttemptAt }) => `${state} ${nextAttemptAt}`);
    expect(new Set(states)).toEqual(new Set(['stopped null']));
    const stored = await app.db.selectFrom('webhook_endpoints').selectAll().where('id', '=', id).executeTakeFirst();
    expect(stored).toMatchObject({ disabled_at: app.clock(), disabled_reason: expect.stringContaining('410') });
    await app.pay();
    await deliverAll(app, deliverer());
    expect(healthy.requests).toHaveLength(1);
    expect(await log(id)).toHaveLength(40);
  });
});

describe('an endpoint that answered and then answers 410', () => {
  it('is sent nothing of what was taken ahead', async () => {
    const { log, receiver, id, process, under } = await sendingBacklog();
    for (const response of under) response.writeHead(410).end();
    await process.idle();
    expect(receiver.requests).toHaveLength(136);
    const states = (await log(id)).map(({ state }) => state);
    expect(states.filter((state) => state === 'stopped')).toHaveLength(292);
  });
});

describe('the log of a delivery', () => {
  it('keeps what was sent and what came back: status, headers, the first 64 KiB, duration', async () => {
    const { app, deliverer, register, log } = await webhookApp();
    const receiver = await shop((response) => {
      app.clock.advance(321);
      response.writeHead(500, { 'x-shop': 'Bücher' }).end('x'.repeat(70_000));
    });
    const { id } = await register(receiver.url);
    await app.pay();
    const startedAt = app.clock();
    const process = deliverer();
    await process.takeDue();
    await process.idle();
    const [attempt] = (await log(id))[0]?.log ?? [];
    expect(attempt).toMatchObject({
      manual: false,
      startedAt,
      durationMs: 321,
      responseStatus: 500,
      responseHeaders: { 'x-shop': expect.any(String) },
      responseBody: 'x'.repeat(65_536),
      responseTruncated: true,
      error: null,
      errorStage: null,
    });
    const sent = receiver.requests[0]?.headers ?? {};
    expect(Object.keys(attempt?.requestHeaders ?? {})).toContain('x-service-signature');
    expect(sent).toMatchObject({ ...attempt?.requestHeaders });
  });

  it('keeps the stage and message of an attempt that got no answer', async () => {
    const { app, deliverer, register, log } = await webhookApp();
    const receiver = await shop();
    await receiver.close();
    const { id } = await register(receiver.url);
    await app.pay();
    const process = deliverer();
    await process.takeDue();
    await process.idle();
    expect((await log(id))[0]?.log).toMatchObject([
      { responseStatus: null, responseBody: null, errorStage: 'connect', error: expect.stringContaining('127.0.0.1') },
    ]);
  });

  it('keeps in English why an attempt was not allowed', async () => {
    const { app, deliverer, register, log } = await webhookApp();
    const { id } = await register('https://hooks.example/');
    await app.db.updateTable('webhook_endpoints').set({ url: 'https://10.0.0.1/' }).execute();
    await app.pay();
    await deliverAll(app, deliverer());
    expect((await log(id))[0]?.log[0]).toMatchObject({
      errorStage: 'guard',
      error:
        'Cointill sends webhooks only to public addresses, but 10.0.0.1 is a private address. To allow the address, add its range to WEBHOOK_ALLOW_CIDRS.',
    });
  });

  it('takes NUL bytes and broken UTF-8 in answers', async () => {
    const receiver = await shop((response) => response.end(Buffer.from([0x61, 0, 0xff, 0xed, 0xa0, 0x80, 0x62])));
    const { app, deliverer, log, id } = await eventDueTo(receiver);
    await deliverAll(app, deliverer());
    const [delivery] = await log(id);
    expect(delivery?.state).toBe('delivered');
    expect(delivery?.log[0]?.responseBody).toMatch(/^a\uFFFD+b$/);
  });
});
