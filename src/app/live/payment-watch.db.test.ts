import { expect, it, onTestFinished, vi } from 'vitest';
import { testApp, type TestApp } from '../../../test/harness.ts';
import type { DatabaseHandle } from '../../store/database.ts';
import { moveCursor, startCursor } from '../../store/chains/chain.ts';
import { listen, type Notifications } from '../../store/notifications.ts';
import { setRefundAddress } from '../../store/refunds/refunds.ts';
import { completeSandboxPayment } from '../payments/payment-actions.ts';
import { createPaymentWatch, type PaymentWatch, type PaymentWatchOptions } from './payment-watch.ts';
import { cancelRefund, claimRefund } from '../refunds/change-refund.ts';
import { createRefund } from '../refunds/create-refund.ts';
import { runDueRefunds } from '../refunds/end-refunds.ts';
import type { RefundOutcome } from '../refunds/save-refund.ts';
import { runDue } from '../payments/run-due.ts';
import { DEADLINE_MS, WAIT } from '../../../test/deadline.ts';

function listener(handle: DatabaseHandle): Notifications {
  const notifications = listen(handle);
  onTestFinished(() => notifications.stop());
  return notifications;
}

const untilHealthy = (notifications: Notifications): Promise<void> =>
  vi.waitFor(() => expect(notifications.healthy()).toBe(true), { interval: 5, timeout: DEADLINE_MS });

/** Far beyond what a test takes. */
const NEVER_MS = 600_000;

function watchOf(notifications: Notifications, options?: PaymentWatchOptions): PaymentWatch {
  const watch = createPaymentWatch(notifications, { everyMs: NEVER_MS, ...options });
  onTestFinished(() => watch.stop());
  return watch;
}

async function watching(
  options?: PaymentWatchOptions,
): Promise<{ readonly app: TestApp; readonly watch: PaymentWatch }> {
  const app = await testApp();
  const notifications = listener(app.database);
  const watch = watchOf(notifications, options);
  await untilHealthy(notifications);
  return { app, watch };
}

/** Counts the wakes of a payment. `next` resolves with the wake after those that were counted before. */
function wakes(watch: PaymentWatch, id: string, network: Parameters<PaymentWatch['watch']>[1] = null) {
  let count = 0;
  let asked = 0;
  const stop = watch.watch(id, network, () => (count += 1));
  return {
    count: () => count,
    next: async () => {
      asked = Math.max(asked, count - 1) + 1;
      await vi.waitFor(() => expect(count).toBeGreaterThanOrEqual(asked), { interval: 2, timeout: DEADLINE_MS });
    },
    stop,
  };
}

/** Resolves when all notifications sent so far have arrived, which keep the order of their commits. */
async function allArrived(app: TestApp, watch: PaymentWatch): Promise<void> {
  const { id } = await app.pay();
  const last = wakes(watch, id);
  await completeSandboxPayment(app, { id });
  await last.next();
  last.stop();
}

function refundOf(outcome: RefundOutcome) {
  if (outcome.kind !== 'done') throw new Error(JSON.stringify(outcome));
  return outcome.refund;
}

/** A completed payment and a refund of it, both made while nobody watches. */
async function refunded(app: TestApp, reason: string | null = null) {
  const payment = await app.pay({ token: { asset: 'ETH', network: 'ethereum' } });
  await completeSandboxPayment(app, { id: payment.id });
  const make = (address: string | null) =>
    createRefund(
      app,
      {
        projectId: app.projectId,
        mode: 'test',
        api: 'order',
        paymentId: payment.id,
        wanted: { amountMinor: 100n },
        address,
        reason,
      },
      null,
    ).then(refundOf);
  return { payment, make };
}

const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';

it('a watcher is woken only by changes of its own payment, and not after it has stopped watching', async () => {
  const { app, watch } = await watching();
  const [mine, other] = await Promise.all([app.pay(), app.pay()]);
  const [woken, left] = [wakes(watch, mine.id), wakes(watch, mine.id)];
  const neighbour = wakes(watch, other.id);
  left.stop();
  await completeSandboxPayment(app, { id: mine.id });
  await woken.next();
  await completeSandboxPayment(app, { id: other.id });
  await neighbour.next();
  expect([woken.count(), neighbour.count(), left.count(), watch.watchers()]).toEqual([1, 1, 0, 2]);
  woken.stop();
  neighbour.stop();
  expect(watch.watchers()).toBe(0);
});

it('1,000 payments that change in one statement wake each watcher once', async () => {
  const app = await testApp();
  // A busy machine may lose and find the connection meanwhile, which wakes everybody once more.
  const watch = watchOf({ ...listener(app.database), onUp: () => {} });
  const payments = await Promise.all(Array.from({ length: 1_000 }, () => app.pay()));
  const woken = payments.map(({ id }) => wakes(watch, id));
  app.clock.advance(60_000);
  expect(await runDue(app, 1_000)).toBe(1_000);
  await Promise.all(woken.map((each) => each.next()));
  expect(new Set(woken.map((each) => each.count()))).toEqual(new Set([1]));
});

it('creating a payment wakes nobody', async () => {
  const { app, watch } = await watching();
  const payment = await app.pay();
  const woken = wakes(watch, payment.id);
  const told: string[] = [];
  const notifications = listener(app.database);
  notifications.on('payments', (ids) => told.push(...ids));
  await untilHealthy(notifications);
  await app.pay();
  await completeSandboxPayment(app, { id: payment.id });
  await woken.next();
  await vi.waitFor(() => expect(told).not.toEqual([]), { interval: 2, timeout: WAIT.timeout });
  expect(told).toEqual([payment.id]);
});

it('a refund wakes the watchers of its payment when it is made, claimed, completed and failed', async () => {
  const { app, watch } = await watching();
  const { payment, make } = await refunded(app);
  await allArrived(app, watch);
  const woken = wakes(watch, payment.id);
  const refund = await make(null);
  await woken.next();
  refundOf(await claimRefund(app, refund.id, ADDRESS));
  await woken.next();
  app.clock.advance(60_000);
  expect(await runDueRefunds(app, 10)).toBe(1);
  await woken.next();
  const withdrawn = await make(ADDRESS);
  await woken.next();
  refundOf(await cancelRefund(app, { id: withdrawn.id }));
  await woken.next();
  expect(woken.count()).toBe(5);
});

it('a refund address that is rolled back wakes nobody', async () => {
  const { app, watch } = await watching();
  const { payment, make } = await refunded(app);
  const refund = await make(null);
  await allArrived(app, watch);
  const woken = wakes(watch, payment.id);
  const undone = app.db.transaction().execute(async (trx) => {
    await setRefundAddress(trx, { ...refund, address: ADDRESS }, ADDRESS);
    throw new Error('changed my mind');
  });
  await expect(undone).rejects.toThrow('changed my mind');
  await allArrived(app, watch);
  expect(woken.count()).toBe(0);
});

it('a move of a chain wakes those who count its confirmations, once, and nobody else', async () => {
  const { app, watch } = await watching();
  const block = (height: number) => ({ height, hash: `0x${height}`, blockAt: height });
  for (const network of ['ethereum', 'litecoin'] as const)
    await app.db.transaction().execute((trx) => startCursor(trx, network, block(1), 1));
  const counting = wakes(watch, 'a', 'ethereum');
  const elsewhere = wakes(watch, 'b', 'litecoin');
  const resting = wakes(watch, 'c');
  await app.db.transaction().execute((trx) => moveCursor(trx, 'ethereum', [block(2), block(3), block(4)], 2));
  await counting.next();
  await app.db.transaction().execute((trx) => moveCursor(trx, 'litecoin', [block(2)], 2));
  await elsewhere.next();
  expect([counting.count(), elsewhere.count(), resting.count()]).toEqual([1, 1, 0]);
});

it('everybody is woken again and again, also while notifications are down, and once more when they are back', async () => {
  const app = await testApp();
  let isAway = true;
  const notifications = listener({
    ...app.database,
    connect: () => (isAway ? Promise.reject(new Error('connection refused')) : app.database.connect()),
  });
  // A round replaces the one before: on a busy machine, too, that has to be through by then.
  const watch = watchOf(notifications, { everyMs: 400, spreadMs: 10 });
  const woken = Array.from({ length: 50 }, (_, index) => wakes(watch, String(index)));
  for (let round = 0; round < 3; round += 1) await Promise.all(woken.map((each) => each.next()));
  isAway = false;
  let ups = 0;
  const up = new Promise<void>((resolve) => notifications.onUp(() => resolve()));
  notifications.onUp(() => (ups += 1));
  await up;
  await Promise.all(woken.map((each) => each.next()));
  expect(ups).toBe(1);
});

it('when notifications come back, thousands are woken once each and not in the same moment', async () => {
  let back: () => void = () => {};
  const watch = watchOf({
    healthy: () => true,
    on: () => {},
    onDown: () => {},
    onUp: (listener) => (back = listener),
    stop: () => Promise.resolve(),
  });
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const woken = Array.from({ length: 2_000 }, (_, index) => wakes(watch, String(index)));
  const awake = (): number => woken.filter((each) => each.count() > 0).length;
  back();
  expect(awake()).toBe(100);
  woken[1_999]?.stop();
  vi.advanceTimersByTime(500);
  expect(awake()).toBeGreaterThan(900);
  expect(awake()).toBeLessThan(1_200);
  vi.advanceTimersByTime(500);
  expect(awake()).toBe(1_999);
  expect(new Set(woken.map((each) => each.count()))).toEqual(new Set([0, 1]));
});
