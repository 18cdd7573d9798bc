import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { DOCUMENTED_EVENTS, EVENT_TYPES } from '../../domain/event-type.ts';
import { encodeId } from '../../domain/id.ts';
import { verifyServiceSignature } from '../../webhooks/signature.ts';
import { checkSealingKeys } from '../../service/sealing-key.ts';
import { deliveriesOf, retryDelivery, sendTestEvent } from './deliveries.ts';
import {
  createEndpoint,
  deleteEndpoint,
  endpointsOf,
  parseEventTypes,
  reopenEndpoint,
  rotateEndpointSecret,
} from './webhook-endpoints.ts';
import { eventDueTo, deliverAll, insertBacklog, shop, silentShop, webhookApp } from './webhooks.fixture.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const UNKNOWN = '019bbf3a-0000-7000-8000-00000000dead';

describe('the events an endpoint asks for', () => {
  it('are the eight documented ones for "all", and any others by name', () => {
    expect(parseEventTypes('all')).toEqual({ kind: 'ok', events: DOCUMENTED_EVENTS });
    expect(parseEventTypes(' all ,order.exception,order.created')).toEqual({
      kind: 'ok',
      events: [...DOCUMENTED_EVENTS, 'order.exception'],
    });
    expect(parseEventTypes('refund.failed,order.created,refund.failed')).toEqual({
      kind: 'ok',
      events: ['order.created', 'refund.failed'],
    });
  });

  it.each(['', ' , ', 'order.paid', 'ALL', 'order.created;order.failed'])(
    'are refused as %j, with what may be asked',
    (text) => {
      const names = expect.stringContaining('order.completed');
      expect(parseEventTypes(text)).toMatchObject({ kind: 'rejected', values: { names } });
    },
  );
});

describe('an endpoint', () => {
  it('is not made for a URL that its mode does not allow, an unknown project or unknown events', async () => {
    const { app, sealingKeys } = await webhookApp();
    const policyOf = (mode: 'test' | 'live') => ({ mode, production: true, allowCidrs: [] });
    const good = { projectId: app.projectId, mode: 'live', url: 'https://shop.example/hooks', events: 'all' } as const;
    const create = (bad: Partial<Parameters<typeof createEndpoint>[3]>) =>
      createEndpoint(app, sealingKeys, policyOf, { ...good, ...bad });
    expect(await create({ url: 'http://shop.example/' })).toMatchObject({ kind: 'rejected' });
    expect(await create({ url: 'https://10.0.0.1/' })).toMatchObject({ kind: 'rejected' });
    expect(await create({ mode: 'test', url: 'http://127.0.0.1/' })).toMatchObject({ kind: 'rejected' });
    expect(await create({ events: 'order.paid' })).toMatchObject({ kind: 'rejected' });
    expect(await create({ projectId: UNKNOWN })).toMatchObject({ code: 'no_project', values: { id: UNKNOWN } });
    expect(await endpointsOf(app, null)).toEqual([]);
    expect(await create({})).toMatchObject({
      kind: 'done',
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
  });

  it('keeps its secret sealed: the database never holds its text', async () => {
    const { app, register } = await webhookApp();
    const { secret } = await register('http://127.0.0.1:1/');
    const row = await app.db.selectFrom('webhook_endpoints').selectAll().executeTakeFirstOrThrow();
    expect(row.secret.includes(secret)).toBe(false);
    expect(row.secret.includes(Buffer.from(secret.slice(6), 'base64'))).toBe(false);
  });

  it('that was deleted gets nothing more, not even what waited, and is no longer listed', async () => {
    const { app, deliverer, register } = await webhookApp();
    const receiver = await shop();
    const { id, endpoint } = await register(receiver.url);
    await insertBacklog(app, endpoint, 5);
    expect(await deleteEndpoint(app, id)).toEqual({ kind: 'done' });
    await app.pay();
    await deliverAll(app, deliverer());
    expect(receiver.requests).toHaveLength(0);
    const deliveries = await app.db.selectFrom('deliveries').select(['state', 'next_attempt_at']).execute();
    expect(deliveries).toEqual(Array.from({ length: 5 }, () => ({ state: 'stopped', next_attempt_at: null })));
    expect(await endpointsOf(app, app.projectId)).toEqual([]);
    for (const again of [deleteEndpoint(app, id), reopenEndpoint(app, id), deliveriesOf(app, id, 10)]) {
      expect(await again).toMatchObject({ code: 'no_endpoint' });
    }
  });

  it('is deleted without waiting for what others are recording; that is stopped when it would be due', async () => {
    const { app, deliverer, register, log } = await webhookApp();
    const receiver = await shop();
    const { id, endpoint } = await register(receiver.url);
    await insertBacklog(app, endpoint, 3);
    const [first] = await log(id);
    await app.db.transaction().execute(async (trx) => {
      await trx
        .selectFrom('deliveries')
        .select('id')
        .where('id', '=', first?.id ?? 0n)
        .forUpdate()
        .execute();
      expect(await deleteEndpoint(app, id)).toEqual({ kind: 'done' });
    });
    expect((await log(id)).map(({ state }) => state)).toEqual(['waiting', 'stopped', 'stopped']);
    await deliverAll(app, deliverer());
    expect(await log(id)).toMatchObject(Array.from({ length: 3 }, () => ({ state: 'stopped', nextAttemptAt: null })));
    expect(receiver.requests).toHaveLength(0);
  });

  it('that was enabled after a 410 gets the next events; what was stopped can be retried by hand', async () => {
    let status = 410;
    const receiver = await shop((response) => response.writeHead(status).end());
    const { app, sender, sealingKeys, deliverer, log, id } = await eventDueTo(receiver);
    await deliverAll(app, deliverer());
    const stopped = (await log(id))[0]?.id ?? 0n;
    const disabled = { code: 'endpoint_disabled' };
    expect(await retryDelivery(app, { sender, sealingKeys }, stopped)).toMatchObject(disabled);
    expect(await sendTestEvent(app, id, 'order.created')).toMatchObject(disabled);
    status = 200;
    expect(await reopenEndpoint(app, id)).toEqual({ kind: 'done' });
    await app.pay();
    await deliverAll(app, deliverer());
    expect((await log(id)).map(({ state }) => state)).toEqual(['stopped', 'delivered']);
    expect(await retryDelivery(app, { sender, sealingKeys }, stopped)).toMatchObject({ acknowledged: true });
    expect((await log(id)).map(({ state }) => state)).toEqual(['delivered', 'delivered']);
  });
});

describe('a manual retry', () => {
  it('is an extra attempt: its failure leaves the schedule, its success ends it', async () => {
    let status = 500;
    const receiver = await shop((response) => response.writeHead(status).end('why'));
    const { app, sender, sealingKeys, deliverer, log, id } = await eventDueTo(receiver);
    await deliverAll(app, deliverer());
    const schedule = { state: 'waiting', attempts: 2, nextAttemptAt: app.clock() + MINUTE_MS } as const;
    const [delivery] = await log(id);
    expect(delivery).toMatchObject(schedule);
    app.clock.advance(10_000);
    const deliveryId = delivery?.id ?? 0n;
    expect(await retryDelivery(app, { sender, sealingKeys }, deliveryId)).toEqual({
      kind: 'done',
      acknowledged: false,
      responseStatus: 500,
      error: null,
      durationMs: 0,
    });
    expect(await log(id)).toMatchObject([schedule]);
    status = 200;
    expect(await retryDelivery(app, { sender, sealingKeys }, deliveryId)).toMatchObject({ acknowledged: true });
    const [delivered] = await log(id);
    expect(delivered).toMatchObject({ state: 'delivered', attempts: 2, nextAttemptAt: null, deliveredAt: app.clock() });
    expect(delivered?.log.map(({ manual, responseStatus }) => `${manual} ${responseStatus}`)).toEqual([
      'false 500',
      'false 500',
      'true 500',
      'true 200',
    ]);
    app.clock.advance(90 * 24 * HOUR_MS);
    await deliverAll(app, deliverer());
    expect(receiver.requests).toHaveLength(4);
    expect(new Set(receiver.requests.map(({ body }) => body)).size).toBe(1);
  });

  it('delivers what the schedule gave up', async () => {
    let status = 500;
    const receiver = await shop((response) => response.writeHead(status).end());
    const { app, sender, sealingKeys, deliverer, log, id } = await eventDueTo(receiver);
    for (let index = 0; index < 10; index += 1) {
      await deliverAll(app, deliverer());
      app.clock.advance(24 * HOUR_MS);
    }
    const [failed] = await log(id);
    expect(failed).toMatchObject({ state: 'failed', attempts: 10 });
    expect(await retryDelivery(app, { sender, sealingKeys }, failed?.id ?? 0n)).toMatchObject({ acknowledged: false });
    expect(await log(id)).toMatchObject([{ state: 'failed', attempts: 10, nextAttemptAt: null }]);
    status = 200;
    expect(await retryDelivery(app, { sender, sealingKeys }, failed?.id ?? 0n)).toMatchObject({ acknowledged: true });
    expect(await log(id)).toMatchObject([{ state: 'delivered', attempts: 10 }]);
  });

  it('that is acknowledged ends the schedule even while a scheduled attempt is under way', async () => {
    const receiver = await silentShop();
    const { app, sender, sealingKeys, deliverer, log, id } = await eventDueTo(receiver);
    const process = deliverer();
    await process.takeDue();
    const scheduled = await receiver.next();
    const retried = retryDelivery(app, { sender, sealingKeys }, (await log(id))[0]?.id ?? 0n);
    (await receiver.next()).end();
    expect(await retried).toMatchObject({ acknowledged: true });
    scheduled.writeHead(500).end();
    await process.idle();
    expect(await log(id)).toMatchObject([{ state: 'delivered', nextAttemptAt: null, log: [{}, {}] }]);
  });

  it('of an unknown delivery is refused', async () => {
    const { app, sender, sealingKeys } = await webhookApp();
    expect(await retryDelivery(app, { sender, sealingKeys }, 404n)).toMatchObject({ kind: 'rejected' });
  });
});

/** The fields that identify an event's record; lost money is no record of the API. */
function aboutOf(type: string): object {
  if (type === 'payment.lost') return { index: 1_234, network: 'bitcoin' };
  const [prefix = ''] = type.split('.');
  return { object: prefix === 'payment' ? 'order' : prefix };
}

describe('a test event', () => {
  it('of any type goes to its endpoint alone, marked as a test, whatever that asked for', async () => {
    const { app, deliverer, register, log } = await webhookApp();
    app.clock.set(Date.now());
    const receiver = await shop();
    const bystander = await shop();
    const { id, secret } = await register(receiver.url, { events: 'order.failed' });
    await register(bystander.url, { events: EVENT_TYPES.join() });
    for (const type of EVENT_TYPES) {
      const sent = await sendTestEvent(app, id, type);
      if (sent.kind !== 'done') throw new Error(sent.code);
      await deliverAll(app, deliverer());
      const request = receiver.requests.at(-1);
      const headers = { ...request?.headers } as Record<string, string>;
      expect(new Webhook(secret).verify(request?.body ?? '', headers)).toMatchObject({
        id: encodeId('event', sent.eventId),
        type,
        created_at: new Date(app.clock()).toISOString(),
        data: { test: true, ...aboutOf(type) },
      });
      expect((await log(id)).at(-1)).toMatchObject({ id: sent.deliveryId, type, state: 'delivered' });
    }
    expect(receiver.requests).toHaveLength(EVENT_TYPES.length);
    expect(bystander.requests).toHaveLength(0);
  });

  it('of an unknown type or for an unknown endpoint is refused', async () => {
    const { app, register } = await webhookApp();
    const { id } = await register('http://127.0.0.1:1/');
    expect(await sendTestEvent(app, id, 'order.paid')).toMatchObject({ kind: 'rejected' });
    expect(await sendTestEvent(app, UNKNOWN, 'order.created')).toMatchObject({ kind: 'rejected' });
    expect(await app.db.selectFrom('events').selectAll().execute()).toEqual([]);
  });
});

describe('a rotated secret', () => {
  it('also signs for 24 hours; x-service-signature uses the newest one at once', async () => {
    const { app, sealingKeys, deliverer, register } = await webhookApp();
    const receiver = await shop();
    const { id, secret: old } = await register(receiver.url);
    // One process all the while: it must not go on with the secret that it opened first.
    const process = deliverer();
    await app.pay();
    await deliverAll(app, process);
    const rotated = await rotateEndpointSecret(app, sealingKeys, id);
    if (rotated.kind !== 'done') throw new Error(rotated.code);
    expect(rotated.secret).not.toBe(old);
    const until = app.clock() + 24 * HOUR_MS;
    expect(rotated.previousUntil).toBe(until);

    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const deliver = async (at: number) => {
      app.clock.set(at);
      vi.setSystemTime(at);
      await app.pay();
      await deliverAll(app, process);
      const request = receiver.requests.at(-1);
      if (request === undefined) throw new Error('nothing arrived');
      const { body, headers } = request;
      const verifies = (secret: string): boolean => {
        try {
          new Webhook(secret).verify(body, { ...headers } as Record<string, string>);
          return true;
        } catch {
          return false;
        }
      };
      const signature = String(headers['x-service-signature']);
      return {
        new: verifies(rotated.secret),
        old: verifies(old),
        service: verifyServiceSignature(rotated.secret, body, signature),
      };
    };
    expect(await deliver(until - 1)).toEqual({ new: true, old: true, service: true });
    expect(await deliver(until)).toEqual({ new: true, old: false, service: true });
  });

  it('replaces one whose key is lost, which then signs nothing, and deliveries go on', async () => {
    const { app, deliverer, register } = await webhookApp();
    const receiver = await shop();
    const { id } = await register(receiver.url);
    const sealingKeys = [randomBytes(32)] as const;
    await expect(checkSealingKeys(app.db, sealingKeys)).rejects.toThrow(/another key.*--lost-key/);
    const rotated = await rotateEndpointSecret(app, sealingKeys, id);
    if (rotated.kind !== 'done') throw new Error(rotated.code);
    expect(rotated.previousUntil).toBeNull();
    await expect(checkSealingKeys(app.db, sealingKeys)).resolves.toBeUndefined();
    await app.pay();
    await deliverAll(app, deliverer({ sealingKeys }));
    const request = receiver.requests.at(-1);
    expect(String(request?.headers['webhook-signature']).split(' ')).toHaveLength(1);
    const signature = String(request?.headers['x-service-signature']);
    expect(verifyServiceSignature(rotated.secret, request?.body ?? '', signature)).toBe(true);
  });

  it('of an unknown endpoint is refused', async () => {
    const { app, sealingKeys } = await webhookApp();
    expect(await rotateEndpointSecret(app, sealingKeys, UNKNOWN)).toMatchObject({ kind: 'rejected' });
  });
});
