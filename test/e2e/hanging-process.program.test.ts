import { expect, it, onTestFinished, vi } from 'vitest';
import { WAIT } from '../deadline.ts';
import { testDatabase } from '../database.ts';
import { client, eventually, testService } from '../program.ts';

const ORDER = { amount: 12.5, currency: 'USD', crypto_currency: 'BTC' };

it('what a process that hangs in the middle of a transaction has locked is free within seconds, and it goes on when it wakes', async () => {
  const database = await testDatabase();
  const service = await testService({ DATABASE_URL: database.url, SANDBOX_COMPLETE_AFTER_SECONDS: '3600' });
  const { running, first } = await service.start();
  const call = client(service.sandbox, String(first?.key));
  const { body: order } = await call('/v1/orders', ORDER);
  const [holder, watcher] = [await database.connect(), await database.connect()];
  onTestFinished(async () => {
    running.signal('SIGCONT');
    await Promise.all([holder.end(), watcher.end()]);
  });
  // The transaction that completes the order has locked it before it updates the counts.
  await holder.query('begin; lock table payment_day_counts in access exclusive mode');
  await watcher.query('update payments set due_at = now(), completes_at = now()');
  await vi.waitFor(async () => {
    const { rows } = await watcher.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    expect(rows).not.toEqual([]);
  }, WAIT);
  running.signal('SIGSTOP');
  await holder.query('rollback');
  const hanging = `select 1 from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`;
  await vi.waitFor(async () => expect((await watcher.query(hanging)).rows).not.toEqual([]), WAIT);
  // This waits for the lock that the hanging process holds.
  expect((await holder.query('select status from payments for update')).rows).toEqual([{ status: 'pending' }]);
  running.signal('SIGCONT');
  await eventually('it is completed', async () =>
    (await call(`/v1/orders/${String(order['id'])}`)).body['status'] === 'completed' ? true : null,
  );
});
