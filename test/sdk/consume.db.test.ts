import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import {
  CointillError,
  ConnectionError,
  GapError,
  type Gap,
  InvalidRequestError,
  type Consuming,
} from '../../packages/sdk/src/index.ts';
import { numberDue } from '../../src/app/webhooks/number-events.ts';
import { purgeLogBefore } from '../../src/store/webhooks/event-positions.ts';
import { httpTest } from '../http.ts';
import { clientOf, listenOn } from './service.fixture.ts';

const http = await httpTest();
const url = await listenOn(http.server('test'));
afterAll(() => http.close());

const NEW = { amount: 25, currency: 'USD', crypto_currency: 'BTC' };

/** A shop whose log has this many events. */
async function shopWithEvents(count: number) {
  const shop = await http.shop();
  let isDown = false;
  const cointill = await clientOf(shop, url, {
    retries: 0,
    fetch: (input, init) => (isDown ? Promise.reject(new TypeError('fetch failed')) : fetch(input, init)),
  });
  const add = async (): Promise<void> => {
    await cointill.orders.create(NEW);
    while (await numberDue(http.app));
  };
  for (let made = 0; made < count; made += 1) await add();
  return { shop, cointill, add, setDown: (down: boolean) => void (isDown = down) };
}

/** A consumer that notes what it sees, until it has seen `count` events. */
async function consumeUntil(
  { cointill }: Awaited<ReturnType<typeof shopWithEvents>>,
  count: number,
  options: Consuming,
  during: (position: number) => Promise<void> = () => Promise.resolve(),
) {
  const seen: number[] = [];
  const saved: string[] = [];
  const stop = new AbortController();
  const save = (position: string): void => {
    saved.push(position);
    if (seen.length >= count) stop.abort();
  };
  let error: unknown = null;
  try {
    for await (const event of cointill.events.consume({ save, signal: stop.signal, ...options })) {
      seen.push(event.position);
      await during(event.position);
    }
  } catch (caught) {
    error = caught;
  }
  return { seen, saved, error };
}

describe('a consumer of the log', () => {
  it('reads every event once, saves after each page, and waits for more', async () => {
    const shop = await shopWithEvents(3);
    const added = { yet: false };
    const result = await consumeUntil(shop, 4, { from: null }, async (position) => {
      if (position < 3 || added.yet) return;
      added.yet = true;
      await shop.add();
    });
    expect(result).toEqual({ seen: [1, 2, 3, 4], saved: ['3', '4'], error: null });
  });

  it('goes on from a saved position, a number too, and gets the events of given types and payments alone', async () => {
    const shop = await shopWithEvents(3);
    expect(await consumeUntil(shop, 1, { from: 2 })).toMatchObject({ seen: [3], saved: ['3'] });
    const order = await shop.cointill.orders.create(NEW);
    while (await numberDue(http.app));
    expect(await consumeUntil(shop, 1, { payment: order.id, types: ['order.created'] })).toMatchObject({ seen: [4] });
  });

  it('gets the events of a page again whose handler threw, and the error of the handler', async () => {
    const shop = await shopWithEvents(3);
    const failing = await consumeUntil(shop, 3, {}, (position) =>
      position === 2 ? Promise.reject(new Error('no stock')) : Promise.resolve(),
    );
    expect(failing).toMatchObject({ seen: [1, 2], saved: [], error: { message: 'no stock' } });
    expect((await consumeUntil(shop, 3, {})).seen).toEqual([1, 2, 3]);
  });

  it('ends with the reason if its position cannot be saved', async () => {
    const shop = await shopWithEvents(1);
    const disk = new Error('disk full');
    const { seen, error } = await consumeUntil(shop, 9, { save: () => Promise.reject(disk) });
    expect(seen).toEqual([1]);
    expect(error).toBeInstanceOf(CointillError);
    expect(error).toMatchObject({
      cause: disk,
      message: expect.stringMatching(/^save failed, so position 1 is not kept.*again\.$/),
    });
  });

  it('waits for a service that is away, and says so, but not for an address that never answered', async () => {
    const shop = await shopWithEvents(1);
    const told: CointillError[] = [];
    const result = await consumeUntil(
      shop,
      2,
      {
        onRetry: (error) => {
          told.push(error);
          shop.setDown(false);
        },
      },
      async (position) => {
        if (position > 1) return;
        await shop.add();
        shop.setDown(true);
      },
    );
    expect(result).toMatchObject({ seen: [1, 2], error: null });
    expect(told).toEqual([expect.any(ConnectionError)]);
    shop.setDown(true);
    expect((await consumeUntil(shop, 1, {})).error).toBeInstanceOf(ConnectionError);
  });

  it.each(['', 'yesterday', 'NaN', '-1'])('refuses to begin at %j', async (from) => {
    const { error } = await consumeUntil(await shopWithEvents(0), 1, { from });
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error).toMatchObject({ field: 'from' });
  });

  it('is told that its position is that of another service', async () => {
    const { error } = await consumeUntil(await shopWithEvents(1), 1, { from: '999' });
    expect(error).toMatchObject({ field: 'after', message: expect.stringMatching(/the log .* ends at 1/) });
  });
});

describe('a gap in the log', () => {
  /** A log whose positions 2 to 1003 a restore has skipped. */
  async function restored() {
    const shop = await shopWithEvents(1);
    await sql`insert into event_positions (project_id, mode, position, gap_from, gap_reason)
      values (${shop.shop.projectId}, 'test', 1003, 2, 'restored')`.execute(http.app.db);
    await sql`update event_heads set head = 1003 where project_id = ${shop.shop.projectId}`.execute(http.app.db);
    await shop.add();
    return shop;
  }
  const gap: Gap = { from: 2, to: 1003, reason: 'restored', next: '1003' };

  it('ends the loop after what came before, and names where to go on', async () => {
    const shop = await restored();
    const { seen, saved, error } = await consumeUntil(shop, 9, {});
    expect({ seen, saved }).toEqual({ seen: [1], saved: ['1'] });
    expect(error).toBeInstanceOf(GapError);
    expect(error).toMatchObject({
      gap,
      message: expect.stringMatching(/from 2 to 1003 .* restored\. Read your payments again/),
    });
    expect(await consumeUntil(shop, 1, { from: gap.next })).toEqual({ seen: [1004], saved: ['1004'], error: null });
    // A position that an older copy of the service gave.
    expect((await consumeUntil(shop, 9, { from: 700 })).error).toMatchObject({ gap });
  });

  it('is told to onGap between the events, and the loop goes on', async () => {
    const gaps: Gap[] = [];
    const { seen, error } = await consumeUntil(await restored(), 2, { onGap: (one) => void gaps.push(one) });
    expect({ seen, gaps, error }).toEqual({ seen: [1, 1004], gaps: [gap], error: null });
  });

  it('is what the service has deleted, too', async () => {
    const shop = await shopWithEvents(2);
    http.clock.advance(1_000);
    await shop.add();
    const purge = () => http.app.db.transaction().execute((trx) => purgeLogBefore(trx, http.clock(), 100));
    while ((await purge()) > 0);
    const deleted = { from: 2, to: 2, reason: 'deleted', next: '2' };
    expect((await consumeUntil(shop, 9, { from: 1 })).error).toMatchObject({ gap: deleted });
    const gaps: Gap[] = [];
    expect(await consumeUntil(shop, 1, { from: 1, onGap: (one) => void gaps.push(one) })).toMatchObject({
      seen: [3],
      error: null,
    });
    expect(gaps).toEqual([deleted]);
  });
});
