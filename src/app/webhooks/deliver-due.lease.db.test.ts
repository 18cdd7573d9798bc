import type { ServerResponse } from 'node:http';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { deleteCustomerData } from '../../store/payments/customer-data.ts';
import type { Trx } from '../../store/database.ts';
import { claimDeliveries, findDelivery } from '../../store/webhooks/deliveries.ts';
import { recordAttempts } from '../../store/webhooks/delivery-attempts.ts';
import { attempt, createSecretCache } from './attempt-delivery.ts';
import {
  blockedStatements,
  sendingBacklog,
  eventDueTo,
  deliverAll,
  insertBacklog,
  shop,
  silentShop,
  waitingTransaction,
  webhookApp,
  withDeliveriesLocked,
} from './webhooks.fixture.ts';

const MINUTE_MS = 60_000;
const LEASE_MS = MINUTE_MS;

describe('a lease', () => {
  it('gives a delivery back when its process died, and the dead one can no longer move the schedule', async () => {
    const receiver = await silentShop();
    const { app, deliverer, log, id } = await eventDueTo(receiver);
    const lost = deliverer();
    await lost.takeDue();
    const toLost = await receiver.next();
    const heir = deliverer();
    app.clock.advance(LEASE_MS - 1);
    await heir.takeDue();
    await heir.idle();
    expect(receiver.requests).toHaveLength(1);
    app.clock.advance(1);
    await heir.takeDue();
    const toHeir = await receiver.next();

    toLost.writeHead(500).end('from before');
    await lost.idle();
    const leaseUntil = app.clock() + LEASE_MS;
    expect(await log(id)).toMatchObject([{ state: 'waiting', attempts: 0, nextAttemptAt: leaseUntil }]);
    toHeir.end('welcome');
    await heir.idle();
    const [delivery] = await log(id);
    expect(delivery).toMatchObject({ state: 'delivered', attempts: 1, nextAttemptAt: null });
    expect(delivery?.log.map((attempt) => attempt.responseBody)).toEqual(['from before', 'welcome']);
  });

  it('that ends under way, since the clock was set, makes no second attempt beside the first', async () => {
    const { app, deliverer, register } = await webhookApp();
    const receiver = await silentShop();
    const { id } = await register(receiver.url);
    const second = await shop();
    await app.pay();
    const process = deliverer();
    await process.takeDue();
    const response = await receiver.next();
    app.clock.advance(24 * 60 * MINUTE_MS);
    const other = await register(second.url);
    await app.pay();
    await process.takeDue();
    response.end();
    (await receiver.next()).end();
    await process.idle();
    expect(receiver.requests).toHaveLength(2);
    expect(second.requests).toHaveLength(1);
    expect(id).not.toBe(other.id);
  });

  it('is held by one process alone, however many take at the same time', async () => {
    const { app, deliverer, register } = await webhookApp();
    const receiver = await shop();
    for (let index = 0; index < 10; index += 1) {
      await insertBacklog(app, (await register(`${receiver.url}/${index}`)).endpoint, 100);
    }
    const claim = { now: app.clock(), leaseUntil: app.clock() + LEASE_MS, quotas: {}, defaultQuota: 20, limit: 90 };
    const claims = await Promise.all(Array.from({ length: 4 }, () => claimDeliveries(app.db, claim)));
    const ids = claims.flat().map((delivery) => delivery.id);
    expect(ids).toHaveLength(360);
    expect(new Set(ids).size).toBe(360);
    await Promise.all([deliverer(), deliverer(), deliverer()].map((process) => deliverAll(app, process)));
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(640);
    expect(receiver.requests).toHaveLength(640);
  });
});

describe('a fault', () => {
  it('in the record of one answer leaves those beside it alone', async () => {
    const { app, faults, deliverer, register } = await webhookApp();
    await sql`alter table delivery_attempts add check (response_body <> 'refuse me')`.execute(app.db);
    const receiver = await silentShop();
    for (let index = 0; index < 10; index += 1) await register(receiver.url);
    await app.pay();
    const process = deliverer();
    await process.takeDue();
    const responses = await Promise.all(Array.from({ length: 10 }, () => receiver.next()));
    for (const [index, response] of responses.entries()) response.end(index === 5 ? 'refuse me' : 'fine');
    await process.idle();
    const states = await app.db.selectFrom('deliveries').select('state').orderBy('state').execute();
    expect(states.map(({ state }) => state)).toEqual([...Array.from({ length: 9 }, () => 'delivered'), 'waiting']);
    expect(faults).toHaveLength(1);
  });

  it('of the sealing key sends nothing, is reported, costs no attempt, and leaves the endpoint to others', async () => {
    const { app, faults, sealingKeys, deliverer, register, log } = await webhookApp();
    const receiver = await shop();
    const { id, endpoint } = await register(receiver.url);
    await insertBacklog(app, endpoint, 20);
    const stranger = deliverer({ sealingKeys: [Buffer.alloc(32)] });
    for (let look = 0; look < 2; look += 1) {
      expect(await stranger.takeDue()).toBe(false);
      await stranger.idle();
    }
    expect(receiver.requests).toHaveLength(0);
    expect(faults).toHaveLength(8);
    for (const fault of faults) expect(String(fault)).toContain('SECRET_KEY');
    expect((await log(id)).map(({ attempts }) => attempts)).toEqual(Array.from({ length: 20 }, () => 0));
    await deliverAll(app, deliverer({ sealingKeys }));
    expect(receiver.requests).toHaveLength(20);
  });
});

describe('a deliverer that stops', () => {
  it('records the attempts under way as they end, failures too, and takes nothing more', async () => {
    const { app, deliverer, register, log } = await webhookApp();
    const receiver = await silentShop();
    const [one, two] = [await register(receiver.url), await register(receiver.url)];
    await app.pay();
    const process = deliverer();
    await process.takeDue();
    const [first, second] = [await receiver.next(), await receiver.next()];
    const stopped = process.stop();
    await app.pay();
    expect(await process.takeDue()).toBe(false);
    first.end();
    second.writeHead(500).end();
    await stopped;
    expect(receiver.requests).toHaveLength(2);
    const logs = [...(await log(one.id)), ...(await log(two.id))];
    expect(logs.map(({ state, attempts }) => `${state} ${attempts}`).toSorted()).toEqual([
      'delivered 1',
      'waiting 0',
      'waiting 0',
      'waiting 1',
    ]);
  });

  it('does not blame the receiver for attempts that the closing of the sender cut short: they are made again', async () => {
    const receiver = await silentShop();
    const { app, newSender, deliverer, log, id } = await eventDueTo(receiver);
    const sender = newSender();
    const process = deliverer({ sender });
    await process.takeDue();
    await receiver.next();
    const stopped = process.stop();
    await sender.close(0);
    await stopped;
    const leaseUntil = app.clock() + LEASE_MS;
    expect(await log(id)).toMatchObject([{ state: 'waiting', attempts: 0, nextAttemptAt: leaseUntil, log: [] }]);
    app.clock.advance(LEASE_MS);
    const afterRestart = deliverer();
    await afterRestart.takeDue();
    (await receiver.next()).end();
    await afterRestart.idle();
    expect(await log(id)).toMatchObject([{ state: 'delivered', attempts: 1 }]);
  });

  it('gives back what it took and did not start, for others to send at once', async () => {
    const { app, log, receiver, id, process, under } = await sendingBacklog();
    const stopped = process.stop();
    for (const response of under) response.end();
    await stopped;
    expect(receiver.requests).toHaveLength(136);
    const isDue = (delivery: { nextAttemptAt: number | null }): boolean => delivery.nextAttemptAt === app.clock();
    expect((await log(id)).filter(isDue)).toHaveLength(164);
  });

  it('gives back what a claim under way takes after all', async () => {
    const receiver = await shop();
    const { app, deliverer, log, id } = await eventDueTo(receiver);
    const process = deliverer();
    const under = await withDeliveriesLocked(app, async (blocked) => {
      const taking = process.takeDue();
      await blocked(1);
      return { taking, stopping: process.stop() };
    });
    await Promise.all([under.taking, under.stopping]);
    expect(receiver.requests).toHaveLength(0);
    expect(await log(id)).toMatchObject([{ state: 'waiting', attempts: 0, nextAttemptAt: app.clock(), log: [] }]);
  });
});

describe('a claim', () => {
  it('that found no room says that there is more when room was made meanwhile', async () => {
    const { app, deliverer, register } = await webhookApp();
    const receiver = await silentShop();
    const { endpoint } = await register(receiver.url);
    await insertBacklog(app, endpoint, 5);
    const process = deliverer();
    expect(await process.takeDue()).toBe(false);
    const responses = await Promise.all(Array.from({ length: 5 }, () => receiver.next()));
    await insertBacklog(app, endpoint, 5);
    const { taking } = await withDeliveriesLocked(app, async (blocked) => {
      const taking = process.takeDue();
      await blocked(1);
      for (const response of responses) response.end();
      // The answers have arrived when their record waits too.
      await blocked(2);
      return { taking };
    });
    expect(await taking).toBe(true);
    await process.takeDue();
    for (let index = 0; index < 5; index += 1) (await receiver.next()).end();
  });
});

describe('an attempt under way while its customer’s data are deleted', () => {
  const EMAIL = 'zqann@customer.example';

  /** An endpoint holds its answer to an event with the customer's data. */
  async function heldAnswer() {
    const { app, register, deliverer, log, sealingKeys, sender } = await webhookApp();
    const receiver = await silentShop();
    const { id } = await register(receiver.url);
    await app.pay({ customerEmail: EMAIL, metadata: { note: `call ${EMAIL}` } });
    const process = deliverer();
    await process.takeDue();
    const response = await receiver.next();
    return {
      app,
      process,
      sealingKeys,
      sender,
      echo: (to: ServerResponse = response) => {
        to.writeHead(200, { 'x-customer': EMAIL }).end(receiver.requests[0]?.body);
      },
      forget: (trx: Trx) =>
        deleteCustomerData(trx, app.projectId, { kind: 'email', email: EMAIL }, { after: null, limit: 10 }),
      delivery: async () => {
        const [delivery] = await log(id);
        if (delivery === undefined) throw new Error('There is no delivery.');
        return delivery;
      },
    };
  }

  const withoutAnswer = { responseStatus: 200, responseHeaders: null, responseBody: null };

  it('is recorded as delivered, without what the endpoint echoed', async () => {
    const { app, process, echo, forget, delivery } = await heldAnswer();
    await app.db.transaction().execute(forget);
    echo();
    await process.idle();
    expect(await delivery()).toMatchObject({ state: 'delivered', attempts: 1, log: [withoutAnswer] });
  });

  it('keeps nothing of the answer if it ends before the deletion does', async () => {
    const { app, process, echo, forget, delivery } = await heldAnswer();
    await waitingTransaction(app, async (trx) => {
      await forget(trx);
      echo();
      await blockedStatements(app, 1);
    });
    await process.idle();
    expect(await delivery()).toMatchObject({ state: 'delivered', log: [withoutAnswer] });
  });

  it('is cleared by a deletion that begins before its record ends', async () => {
    const { app, sealingKeys, sender, echo, forget, delivery } = await heldAnswer();
    const found = await findDelivery(app.db, (await delivery()).id);
    if (found === null) throw new Error('There is no delivery.');
    const receiver = await shop((response) => echo(response));
    const endpoint = { ...found.endpoint, url: receiver.url };
    const made = await attempt(app, sender, createSecretCache(sealingKeys), { ...found, endpoint }, null);
    const { forgetting } = await waitingTransaction(app, async (trx) => {
      await recordAttempts(trx, [made.record]);
      const forgetting = app.db.transaction().execute(forget);
      await blockedStatements(app, 1);
      return { forgetting };
    });
    expect((await forgetting).counts).toMatchObject({ answers: 1 });
    expect(await delivery()).toMatchObject({ state: 'delivered', log: [withoutAnswer] });
  });

  it('keeps the answer to an event whose customer’s data stay', async () => {
    const { process, echo, delivery } = await heldAnswer();
    echo();
    await process.idle();
    const [made] = (await delivery()).log;
    expect(made).toMatchObject({ responseStatus: 200, responseHeaders: { 'x-customer': EMAIL } });
    expect(made?.responseBody).toContain(EMAIL);
  });
});
