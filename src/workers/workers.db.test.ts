import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { RIGHT_CLOCK } from '../app/service-clock.ts';
import { createDeliverer } from '../app/webhooks/deliver-due.ts';
import { insertBacklog, shop, silentShop, webhookApp, type WebhookApp } from '../app/webhooks/webhooks.fixture.ts';
import { listen, type Notifications } from '../store/notifications.ts';
import { startLoop, type Loop } from './loop.ts';
import { startWorkers, type Workers } from './workers.ts';
import { DEADLINE_MS, PROMPT_MS } from '../../test/deadline.ts';
import { NO_PROBLEM } from '../../test/problems.ts';

const NEVER_MS = 10 * 60_000;

function notificationsOf({ app }: WebhookApp): Notifications {
  const notifications = listen(app.database);
  onTestFinished(() => notifications.stop());
  return notifications;
}

/** The workers of a process, on the real clock. */
function workersOf(webhooks: WebhookApp, sender = webhooks.sender): Workers {
  webhooks.app.clock.set(Date.now());
  const app = { ...webhooks.app, clock: Date.now };
  const workers = startWorkers(app, { ...webhooks, sender }, notificationsOf(webhooks), NO_PROBLEM);
  onTestFinished(async () => {
    await Promise.all([workers.stop(1_000), sender.close(0)]);
  });
  return workers;
}

/** Resolves when nothing waits any more, with the states that deliveries then have. */
async function ended({ app }: WebhookApp): Promise<readonly string[]> {
  const waiting = app.db.selectFrom('deliveries').select('id').where('next_attempt_at', 'is not', null).limit(1);
  const isOver = async (): Promise<boolean> => (await waiting.executeTakeFirst()) === undefined;
  await vi.waitUntil(isOver, { interval: 20, timeout: 3 * DEADLINE_MS });
  const deliveries = await app.db.selectFrom('deliveries').select('state').execute();
  return deliveries.map(({ state }) => state);
}

it('a clock that is proven wrong neither completes nor expires anything, and does once it is right', async () => {
  const webhooks = await webhookApp();
  const { app } = webhooks;
  app.clock.set(Date.now() - 86_400_000);
  const { id } = await app.pay();
  app.judgeClock({ ...RIGHT_CLOCK, isWrong: true });
  const asked = Promise.withResolvers<void>();
  let times = 0;
  const clockState = () => {
    times += 1;
    // Three kinds of work ask: by the sixth time the first round of the quickest is over.
    if (times === 6) asked.resolve();
    return app.clockState?.() ?? RIGHT_CLOCK;
  };
  const judged = Promise.withResolvers<void>();
  const problems = NO_PROBLEM;
  const parts = { judged: judged.promise };
  const workers = startWorkers(
    { ...app, clock: Date.now, clockState },
    webhooks,
    notificationsOf(webhooks),
    problems,
    parts,
  );
  onTestFinished(async () => void (await Promise.all([workers.stop(1_000), webhooks.sender.close(0)])));
  judged.resolve();
  await asked.promise;
  expect((await app.read(id)).status).toBe('pending');
  app.judgeClock(RIGHT_CLOCK);
  await expect.poll(async () => (await app.read(id)).status, { timeout: DEADLINE_MS }).toBe('completed');
});

describe('an endpoint with 10,000 waiting deliveries that', () => {
  it.each([
    ['never answered', 0],
    ['answers no more, after it did', 300],
  ])('%s does not delay the delivery of another', async (_name, answers) => {
    const webhooks = await webhookApp();
    webhooks.app.clock.set(Date.now());
    let left = answers;
    const isStuck = Promise.withResolvers<void>();
    const dead = await shop((response) => {
      left -= 1;
      if (left >= 0) response.end();
      else isStuck.resolve();
    });
    const arrived = Promise.withResolvers<void>();
    const healthy = await shop((response) => {
      response.end();
      arrived.resolve();
    });
    await insertBacklog(webhooks.app, (await webhooks.register(dead.url)).endpoint, 10_000);
    await webhooks.register(healthy.url);
    workersOf(webhooks);
    await isStuck.promise;
    const startedMs = performance.now();
    await webhooks.app.pay();
    await arrived.promise;
    expect(performance.now() - startedMs).toBeLessThan(PROMPT_MS);
  });
});

describe('deliveries', () => {
  /**
   * The loop as the workers build it, but it never looks by itself: what moves it is a notification or a free place.
   */
  function wokenOnly(webhooks: WebhookApp): Notifications {
    const notifications = notificationsOf(webhooks);
    let loop: Loop | null = null;
    const deliverer = createDeliverer(webhooks.app, webhooks, { onFree: () => loop?.wake(), problems: NO_PROBLEM });
    loop = startLoop({ name: 'deliveries', work: () => deliverer.takeDue(), restMs: NEVER_MS, problems: NO_PROBLEM });
    notifications.on('deliveries', () => loop.wake());
    onTestFinished(async () => {
      await Promise.all([loop.stop(), deliverer.stop()]);
    });
    return notifications;
  }

  it('start when the payment is committed, not at the worker’s next poll', async () => {
    const webhooks = await webhookApp();
    const notifications = wokenOnly(webhooks);
    const receiver = await silentShop();
    const { id } = await webhooks.register(receiver.url);
    while (!notifications.healthy()) await webhooks.log(id);
    await webhooks.app.pay();
    (await receiver.next()).end();
    expect(await ended(webhooks)).toEqual(['delivered']);
  });

  it('of a long backlog continue, and failed ones are repeated at once, without another poll', async () => {
    const webhooks = await webhookApp();
    const failed = new Set<unknown>();
    const receiver = await shop((response, { headers }) => {
      const isFailing = receiver.requests.length % 100 === 0 && !failed.has(headers['webhook-id']);
      if (isFailing) failed.add(headers['webhook-id']);
      response.writeHead(isFailing ? 500 : 200).end();
    });
    const { endpoint } = await webhooks.register(receiver.url);
    await insertBacklog(webhooks.app, endpoint, 3_000);
    wokenOnly(webhooks);
    expect(await ended(webhooks)).toEqual(Array.from({ length: 3_000 }, () => 'delivered'));
    expect(failed.size).toBeGreaterThan(25);
    const { attempts } = await webhooks.app.db
      .selectFrom('deliveries')
      .select(({ fn }) => fn.sum<bigint>('attempts').as('attempts'))
      .executeTakeFirstOrThrow();
    // On a busy machine some of them time out, and are repeated too.
    expect(attempts).toBeGreaterThanOrEqual(3_000 + failed.size);
    expect(receiver.requests).toHaveLength(Number(attempts));
  });
});

describe('stopping the workers', () => {
  it('claims nothing new, and lets the attempts under way finish and be recorded', async () => {
    const webhooks = await webhookApp();
    const receiver = await silentShop();
    const { id } = await webhooks.register(receiver.url);
    const workers = workersOf(webhooks);
    await webhooks.app.pay();
    const response = await receiver.next();
    let isStopped = false;
    const stopped = workers.stop(10_000).then(() => (isStopped = true));
    await webhooks.app.pay();
    expect(isStopped).toBe(false);
    response.end();
    await stopped;
    expect(await webhooks.log(id)).toMatchObject([
      { state: 'delivered', attempts: 1 },
      { state: 'waiting', attempts: 0 },
    ]);
    expect(receiver.requests).toHaveLength(1);
  });

  it('waits no longer than its grace, and what the closing sender cuts short is not recorded', async () => {
    const webhooks = await webhookApp();
    const receiver = await silentShop();
    const { id } = await webhooks.register(receiver.url);
    const sender = webhooks.newSender();
    const workers = workersOf(webhooks, sender);
    await webhooks.app.pay();
    const response = await receiver.next();
    const cut = new Promise((resolve) => response.on('close', resolve));
    await workers.stop(20);
    await sender.close(0);
    await cut;
    expect(await webhooks.log(id)).toMatchObject([{ state: 'waiting', attempts: 0, log: [] }]);
  });
});
