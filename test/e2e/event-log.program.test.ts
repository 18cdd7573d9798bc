import { rm } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { emptyDatabase } from '../database.ts';
import { DEADLINE_MS } from '../deadline.ts';
import { isNight } from '../extent.ts';
import { client, eventually, testService, type Started, type TestService } from '../program.ts';

const WRITERS = 16;
const KILLS = isNight ? 200 : 20;

interface Entry {
  readonly position: number;
  readonly event?: { readonly id: string; readonly type: string; readonly data: { readonly id: string } };
  readonly gap?: { readonly from: number; readonly to: number; readonly reason: string };
}

/** A reader that knows nothing but where it stopped; what it read comes in the order of positions. */
function readerOf(service: TestService, key: string, from = 'start') {
  let after = from;
  const entries: Entry[] = [];
  const call = client(service.sandbox, key);
  return {
    entries,
    next: () => after,
    /** Reads what there is; a process that was killed is asked again. */
    readOn: async (): Promise<number> => {
      const { status, body } = await call(`/v1/events?limit=500&after=${after}`);
      if (status !== 200) throw new Error(JSON.stringify(body));
      const { data, next } = body as { readonly data: readonly Entry[]; readonly next: string };
      entries.push(...data);
      after = next;
      return data.length;
    },
  };
}

/** Every position is a row or in a gap, and nothing is there twice. */
function expectComplete(entries: readonly Entry[], orders: readonly string[]): void {
  let last = 0;
  for (const { position, gap } of entries) {
    expect(gap === undefined ? position : gap.from).toBe(last + 1);
    last = position;
  }
  const ids = entries.flatMap(({ event }) => event?.id ?? []);
  expect(new Set(ids).size).toBe(ids.length);
  expect(missingFrom(entries, orders)).toEqual([]);
}

/** The orders whose creation was not read. */
function missingFrom(entries: readonly Entry[], orders: readonly string[]): readonly string[] {
  const created = new Set(entries.flatMap(({ event }) => (event?.type === 'order.created' ? event.data.id : [])));
  return orders.filter((id) => !created.has(id));
}

it(
  `a reader by position alone misses nothing and reads nothing twice, beside ${WRITERS} writers and ${KILLS} kills`,
  async () => {
    const common = {
      DATABASE_URL: await emptyDatabase(),
      SECRET_KEY: 'one-key-for-all-processes-of-a-shop',
      SANDBOX_CHECKOUT_URL: 'https://pay.shop.example',
      SANDBOX_COMPLETE_AFTER_SECONDS: '1',
    };
    const services = await Promise.all(
      ['api', 'api', 'worker', 'worker'].map((role) => testService({ ...common, ROLE: role })),
    );
    const running: Started[] = [];
    for (const service of services) running.push(await service.start());
    const [first, second] = services as [TestService, TestService];
    const { key = '' } = running[0]?.first ?? {};
    const orders: string[] = [];
    let isOver = false;
    const until = async (work: () => Promise<unknown>): Promise<void> => {
      // A process that was just killed refuses the connection.
      while (!isOver) await work().catch(() => new Promise((resolve) => setImmediate(resolve)));
    };
    const writer = (_: unknown, number: number) => {
      const call = client((number % 2 === 0 ? first : second).sandbox, key);
      return until(async () => {
        const { status, body } = await call('/v1/orders', { amount: 25, currency: 'USD', crypto_currency: 'BTC' });
        if (status === 200) orders.push(String(body['id']));
      });
    };
    const [reader, other] = [readerOf(first, key), readerOf(second, key)];
    const beside = [...Array.from({ length: WRITERS }, writer), until(reader.readOn), until(other.readOn)];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const victim = kill % services.length;
      await running[victim]?.kill();
      const again = await services[victim]?.start();
      if (again !== undefined) running[victim] = again;
    }
    isOver = true;
    await Promise.all(beside);
    expect(orders.length).toBeGreaterThan(KILLS);
    for (const one of [reader, other]) {
      await eventually('all is read', async () => {
        while ((await one.readOn()) > 0);
        // Orders whose answer was lost are in the log too, so that their number alone says nothing.
        return missingFrom(one.entries, orders).length === 0 ? true : null;
      });
      expectComplete(one.entries, orders);
    }
    expect(reader.entries.slice(0, other.entries.length)).toEqual(other.entries.slice(0, reader.entries.length));
  },
  (isNight ? 40 : 8) * DEADLINE_MS,
);

it(
  'a log that was restored goes on after a gap, which a reader with a later position is told of',
  async () => {
    const service = await testService({ SANDBOX_COMPLETE_AFTER_SECONDS: '3600' });
    const { first, stop } = await service.start();
    const { key = '' } = first ?? {};
    const create = async (of: TestService): Promise<string> =>
      String(
        (await client(of.sandbox, key)('/v1/orders', { amount: 25, currency: 'USD', crypto_currency: 'BTC' })).body[
          'id'
        ],
      );
    const kept = [await create(service), await create(service)];
    const reader = readerOf(service, key);
    const readTo = (count: number) =>
      eventually('the events are read', async () => {
        await reader.readOn();
        return reader.entries.length >= count ? true : null;
      });
    await readTo(2);
    const file = path.join(service.cointill.dataDir, '..', `${path.basename(service.cointill.dataDir)}.backup`);
    onTestFinished(() => rm(file, { force: true }));
    await service.command(`backup ${file}`);
    // The order after the backup is lost.
    await create(service);
    await readTo(3);
    await stop();
    const copy = await testService({ SANDBOX_COMPLETE_AFTER_SECONDS: '3600' }, 'bare');
    await rm(copy.cointill.dataDir, { recursive: true, force: true });
    await copy.command(`restore ${file} --data-dir ${copy.cointill.dataDir}`);
    await copy.start();
    const later = await create(copy);
    const again = readerOf(copy, key, reader.next());
    await eventually('the new event is read', async () => {
      await again.readOn();
      return again.entries.length >= 2 ? true : null;
    });
    const [gap, entry] = again.entries;
    expect(gap).toMatchObject({ gap: { from: 3, to: gap?.position, reason: 'restored' } });
    expect(entry).toMatchObject({ position: (gap?.position ?? 0) + 1, event: { data: { id: later } } });
    const all = readerOf(copy, key);
    while ((await all.readOn()) > 0);
    expectComplete(all.entries, [...kept, later]);
  },
  8 * DEADLINE_MS,
);
