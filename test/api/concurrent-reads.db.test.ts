import { connect } from 'node:net';
import { afterAll, expect, it, onTestFinished, vi } from 'vitest';
import { within } from '../../src/app/within.ts';
import { MAX_STARTED } from '../../src/http/listener.ts';
import { PROMPT_MS, WAIT } from '../deadline.ts';
import { httpTest } from '../http.ts';
import { portOf } from '../socket.ts';

const http = await httpTest();
afterAll(() => http.close());

/** Nobody can count payments until it is released, so that each list holds a connection of the pool. */
async function holdCounts() {
  const [holder, watcher] = [await http.app.database.connect(), await http.app.database.connect()];
  onTestFinished(async () => void (await Promise.all([holder.end(), watcher.end()])));
  await holder.query('begin; lock table payment_day_counts in access exclusive mode');
  return {
    counting: async (): Promise<number> => {
      const { rows } = await watcher.query<{ count: number }>(
        `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows[0]?.count ?? 0;
    },
    release: () => holder.query('rollback'),
  };
}

it('a merchant who reads lists without end leaves the database’s connections to the others', async () => {
  const [busy, other] = [await http.shop(), await http.shop()];
  await Promise.all([busy.key(), other.key()]);
  const { body: order } = await other.call({
    path: '/v1/orders',
    body: { amount: 5, currency: 'USD', crypto_currency: 'BTC' },
  });
  const held = await holdCounts();
  const paths = ['/v1/orders?limit=100', '/api/transactions/stats', `/api/transactions/project/${busy.projectId}`];
  const lists = Array.from({ length: 30 }, (_none, index) => busy.call({ path: paths[index % 3] ?? '' }));
  await vi.waitFor(async () => expect(await held.counting()).toBeGreaterThanOrEqual(MAX_STARTED), WAIT);
  const asked = Promise.all([other.call({ path: `/v1/orders/${order.id}` }), other.call({ path: '/v1/refunds' })]);
  const answers = await within(PROMPT_MS, asked).finally(() => void held.release());
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(new Set((await Promise.all(lists)).map(({ status }) => status))).toEqual(new Set([200]));
});

it('of whoever hung up while he waited nothing is read any more', async () => {
  const shop = await http.shop();
  const key = await shop.key();
  const server = http.build({});
  let closed = 0;
  server.addHook('onRequest', (request, _reply, done) => {
    request.raw.socket.once('close', () => (closed += 1));
    done();
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
  const held = await holdCounts();
  const sockets = Array.from({ length: 3 }, () => {
    const socket = connect(portOf(server), '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      `GET /v1/orders HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`.repeat(MAX_STARTED),
    );
    return socket;
  });
  await vi.waitFor(async () => expect(await held.counting()).toBe(MAX_STARTED), WAIT);
  for (const socket of sockets) socket.destroy();
  await vi.waitFor(() => expect(closed).toBe(3 * MAX_STARTED), WAIT);
  const lists = vi.spyOn(http.app.db, 'executeQuery');
  onTestFinished(() => lists.mockRestore());
  await held.release();
  await shop.call({ path: '/v1/refunds' });
  expect(lists.mock.calls).toEqual([]);
});
