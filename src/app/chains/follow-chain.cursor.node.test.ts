import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../store/database.ts';
import { startCursor } from '../../store/chains/chain.ts';
import {
  paidUnfollowed,
  CONFIRMATIONS,
  etherShop,
  etherSource,
  eventsOf,
  OWED_WEI,
  type EtherShop,
} from './follow-chain.fixture.ts';
import { createChainFollower, NodeBehindError } from './follow-chain.ts';

describe('the first poll', () => {
  it('starts 64 blocks below the head, so that a reorganisation finds its fork', async () => {
    const shop = await etherShop();
    await shop.mine(100);
    expect(await createChainFollower(shop.app, shop.source).follow()).toBe('advanced');
    expect(await shop.cursorHeight()).toBe(36);
  });

  it('goes back before the earliest address that is already out, however long ago, and finds what was paid', async () => {
    const shop = await etherShop();
    const minute = 60_000;
    await shop.mine(300, minute);
    const order = await shop.order({ lifetimeMs: 1_000 * minute });
    await shop.anvil.transfer(order.address, OWED_WEI);
    await shop.mine(200, minute);
    let asked = 0;
    const counting = {
      ...shop.source,
      header: (height: number) => ((asked += 1), shop.source.header(height)),
    };
    expect(await createChainFollower(shop.app, counting).follow()).toBe('advanced');
    expect(asked).toBeGreaterThan(2);
    expect(asked).toBeLessThan(20);
    // Two hours are allowed for clocks that disagree.
    expect(await shop.cursorHeight()).toBe(300 - 120 - 1);
  });

  it('completes what was paid before it, also in the block right after the start', async () => {
    const shop = await etherShop();
    const order = await shop.order();
    await shop.anvil.transfer(order.address, OWED_WEI);
    await shop.advance(CONFIRMATIONS + 100);
    expect(await shop.app.read(order.id)).toMatchObject({ status: 'completed', exception: 'none' });
  });

  it('of two workers at once sets one cursor, which the slower one never moves', async () => {
    const shop = await etherShop();
    await shop.advance(100);
    const late = { height: 99, hash: '0x99', blockAt: shop.app.clock() };
    expect(await shop.app.db.transaction().execute((trx) => startCursor(trx, 'ethereum', late, 1))).toBe(false);
    expect(await shop.cursorHeight()).toBe(100);
  });
});

describe('a node that has fewer blocks than were read', () => {
  it('is reported if it lacks more than a minute’s worth of blocks, and rolls nothing back', async () => {
    const shop = await etherShop();
    await shop.mine(10);
    const shorter = await shop.checkpoint();
    await shop.mine(1);
    const short = await shop.checkpoint();
    await shop.advance(5);
    expect(await shop.cursorHeight()).toBe(16);
    // Nodes hear of blocks one after the other: five of Ethereum's lie within a minute.
    await short();
    expect(await shop.follow()).toEqual([]);
    await shorter();
    const behind = shop.follow();
    await expect(behind).rejects.toThrow(NodeBehindError);
    await expect(behind).rejects.toThrow('The ethereum node is 6 blocks behind the last block that was read.');
    expect(await shop.cursorHeight()).toBe(16);
    await shop.mine(1);
    await expect(shop.follow()).resolves.toBeDefined();
  });
});

describe('the cursor', () => {
  it('survives a restart: the next block after it is taken in, and all that were mined in between', async () => {
    const shop = await etherShop();
    const order = await shop.order();
    await shop.advance(3);
    await shop.anvil.transfer(order.address, OWED_WEI);
    await shop.mine(CONFIRMATIONS);
    // A new process: other connections, another source.
    const restarted = openDatabase(
      { connectionString: shop.app.database.url },
      { maxConnections: 2, onError: () => {} },
    );
    const heights: number[] = [];
    const source = etherSource([shop.anvil.url]);
    const listening = {
      ...source,
      blocks: async (height: number, count: number) => {
        const blocks = await source.blocks(height, count);
        heights.push(...blocks.map((block) => block.height));
        return blocks;
      },
    };
    try {
      const app = { ...shop.app, db: restarted.db };
      const follower = createChainFollower(app, listening);
      while ((await follower.follow()) !== 'at_head');
    } finally {
      await restarted.close();
    }
    expect(heights).toEqual([4, 5, 6]);
    expect((await shop.app.read(order.id)).status).toBe('completed');
  });

  it('keeps the hashes of the last 2,000 blocks', async () => {
    const shop = await etherShop();
    await shop.advance(1);
    await sql`insert into chain_blocks select 'ethereum', -n, 'old', now() from generate_series(1, 2500) n`.execute(
      shop.app.db,
    );
    await shop.advance(1);
    const { rows } = await sql<{ least: number }>`select min(height) as least from chain_blocks`.execute(shop.app.db);
    expect(rows[0]?.least).toBe(2 - 2_000);
  });

  it('does not move past a block that the node took back before it could be checked for reverted transactions', async () => {
    const { shop, order } = await paidUnfollowed();
    const torn = { ...shop.source, dropReverted: async () => null };
    expect(await shop.follow(torn)).toEqual([]);
    expect(await shop.cursorHeight()).toBe(0);
    await shop.follow();
    expect((await shop.app.read(order.id)).status).toBe('confirming');
  });
});

/** Makes every insert into a table fail, as a crash in the midst of saving would. */
async function breakTable(shop: EtherShop, table: string): Promise<() => Promise<void>> {
  const { db } = shop.app;
  await sql`create or replace function broken() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$`.execute(
    db,
  );
  await sql`create trigger broken before insert or update on ${sql.table(table)} for each row execute function broken()`.execute(
    db,
  );
  return async () => void (await sql`drop trigger broken on ${sql.table(table)}`.execute(db));
}

describe('a block is taken in whole or not at all', () => {
  it('wherever saving fails, neither money nor event nor cursor is there, and the next try takes it in once', async () => {
    const { shop, order } = await paidUnfollowed();
    for (const table of ['chain_blocks', 'transfers', 'payments', 'payment_arrows', 'payment_day_counts', 'events']) {
      const mend = await breakTable(shop, table);
      await expect(shop.follow()).rejects.toThrow('broken');
      expect(await shop.cursorHeight()).toBe(0);
      expect(await shop.app.read(order.id)).toMatchObject({ status: 'pending', lastSequence: 1 });
      expect(await shop.app.db.selectFrom('transfers').selectAll().execute()).toEqual([]);
      await mend();
    }
    await shop.follow();
    expect((await shop.app.read(order.id)).status).toBe('confirming');
    expect(await eventsOf(shop.app, order.id)).toEqual(['order.created', 'order.confirming']);
  });

  it('when two workers take the same blocks, each counts once', async () => {
    const shop = await etherShop();
    const order = await shop.order();
    await shop.follow();
    await shop.anvil.transfer(order.address, OWED_WEI);
    await shop.mine(CONFIRMATIONS + 10);
    await Promise.all([shop.follow(), shop.follow(), shop.follow()]);
    await shop.follow();
    expect(await shop.cursorHeight()).toBe(CONFIRMATIONS + 10);
    expect(await shop.app.read(order.id)).toMatchObject({
      status: 'completed',
      exception: 'none',
      received: { all: { confirmedUnits: OWED_WEI } },
    });
    expect(await eventsOf(shop.app, order.id)).toEqual(['order.created', 'order.confirming', 'order.completed']);
  });
});
