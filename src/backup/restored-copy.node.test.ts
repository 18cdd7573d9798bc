import { describe, expect, it } from 'vitest';
import { MIN_SKIP, skipOf } from '../domain/recovery.ts';
import { bookLost } from '../app/chains/book-lost.ts';
import { account, xpubOf } from '../app/chains/follow-chain.fixture.ts';
import { recover } from '../app/chains/recover.ts';
import { backedUp, DAY_MS, ether, installation, SCENES, schemaBeside } from './restored-copy.fixture.ts';
import { inTransaction } from '../app/in-transaction.ts';

describe.each(SCENES)('yesterday’s copy of a shop with %s, while trade went on', (name, open) => {
  const isTreasury = name === 'deposit contracts';
  /** The number that a wallet's gap limit reaches while nobody has paid here; deposits have no limit. */
  const limit = (nextIndex: number): number | null => (isTreasury ? null : nextIndex + 20);

  it('hands out no address twice, completes nobody else’s payment, and finds, reports and books the money of the lost day', async () => {
    const scene = await open();
    const { app } = scene;
    const original = installation(scene, app, app.creator);
    await original.follow();
    const known = [await original.order(), await original.order(), await original.order()];
    const { restore } = await backedUp(scene);

    // The lost day: a known order is paid, and so are two of five new ones.
    const unknown = [];
    for (let made = 0; made < 5; made += 1) unknown.push(await original.order());
    for (const { address, owed } of [known[1], unknown[1], unknown[3]].filter((one) => one !== undefined)) {
      await scene.pay(address, owed);
    }
    await original.follow();
    app.clock.advance(DAY_MS);
    await app.database.close();

    const copy = await restore();
    const to = copy.recovery.wallets[0]?.to ?? 0;
    // Waiting for the node took some minutes of the scene.
    expect(to).toBeGreaterThanOrEqual(3 + skipOf(3, DAY_MS));
    expect(to).toBeLessThanOrEqual(3 + skipOf(3, DAY_MS + 10 * 60_000));
    expect(copy.recovery.wallets).toMatchObject([{ network: scene.network, from: 3, to, gapLimit: limit(to) }]);
    // It sells at once, before it has read a block.
    const sold = [await copy.order(), await copy.order()];
    const given = [...known, ...unknown, ...sold].map(({ address }) => address);
    expect(new Set(given).size).toBe(10);
    await copy.follow();
    expect((await copy.read(known[1]?.id ?? '')).status).toBe('completed');
    for (const { id } of [known[0], known[2], ...sold].filter((one) => one !== undefined)) {
      expect((await copy.read(id)).status).toBe('pending');
    }
    const lost = (await copy.status()).lost;
    expect(lost.map(({ address, index }) => [address, index])).toEqual([
      [unknown[1]?.address, 4],
      [unknown[3]?.address, 6],
    ]);
    expect(lost.map(({ amountUnits }) => amountUnits)).toEqual([unknown[1]?.owed, unknown[3]?.owed]);
    expect(await copy.reportedLost()).toMatchObject([
      { index: 4 },
      { index: 6, address: unknown[3]?.address, network: scene.network },
    ]);

    // Who pays only now is found as well, and stops nothing.
    await scene.pay(unknown[4]?.address ?? '', unknown[4]?.owed ?? 0n);
    await copy.follow();
    expect((await copy.status()).lost.map(({ index }) => index)).toEqual([4, 6, 7]);
    expect((await copy.order()).refused).toBeNull();

    const booking = { amountMinor: 3_000n, currency: 'USD', merchantOrderId: 'A-17', projectId: null } as const;
    const booked = await bookLost(copy.app, { ...booking, address: unknown[1]?.address ?? '' });
    expect(booked).toMatchObject({
      kind: 'done',
      payment: { status: 'completed', merchantOrderId: 'A-17', amountMinor: 3_000n, exception: 'none' },
    });
    expect(await bookLost(copy.app, { ...booking, address: unknown[1]?.address ?? '' })).toMatchObject({
      kind: 'rejected',
    });
    expect((await copy.status()).lost.map(({ index }) => index)).toEqual([6, 7]);
    // Nothing is told twice.
    await copy.follow();
    expect(await copy.reportedLost()).toHaveLength(3);
  });

  it.each([
    ['in another database', async () => undefined],
    ['in a schema of the same database', schemaBeside],
  ])(
    '%s is noticed by the original that is still at work, which hands out nothing more until recover, or warns',
    async (_, placeFor) => {
      const scene = await open();
      const { app } = scene;
      const original = installation(scene, app, app.creator);
      await original.follow();
      await original.order();
      const { restore, file } = await backedUp(scene);
      app.clock.advance(60_000);
      const copy = await restore(null, 0, file, await placeFor(scene));
      const { address, owed } = await copy.order();
      const before = await original.order();
      expect(before.refused).toBeNull();
      await scene.pay(address, owed);
      await original.follow();

      const next = await original.order();
      // Anybody can reckon a treasury's deposits: a stranger must not be able to stop the shop by a coin to one.
      expect(next.refused ?? '').toMatch(isTreasury ? /^$/ : /are paused\. No new addresses/);
      const index = copy.recovery.wallets[0]?.to ?? 0;
      const warning = new RegExp(`address number ${index} .*Another copy.*`).exec(
        (await original.status()).warnings.join(),
      )?.[0];
      // It cannot know which of the two is to stay: the restored one usually is.
      expect(warning).toMatch(/If this copy is to stay, stop the other copy, then run the command recover here/);
      expect(warning).toMatch(/If the other copy was restored from a backup to replace this one, stop this copy/);
      expect((await original.status()).lost).toEqual([]);

      const request = { lostSince: app.clock() - 60_000, now: app.clock(), skip: null };
      const recovery = await inTransaction(app, (trx) => recover(app, trx, request));
      // Beyond what the other copy was seen to sell; what was unpaid and passed over before counts for the limit.
      expect(recovery.wallets).toMatchObject([
        { from: isTreasury ? 3 : 2, gapLimit: limit(recovery.wallets[0]?.to ?? 0) },
      ]);
      expect(recovery.wallets[0]?.to).toBeGreaterThan(index + MIN_SKIP);
      const after = await original.order();
      expect(after.refused).toBeNull();
      expect([address, before.address]).not.toContain(after.address);
      // The money that stopped the copy lies at an address that was skipped meanwhile.
      expect((await original.status()).lost.map(({ index }) => index)).toEqual([index]);
      expect(await original.reportedLost()).toMatchObject([{ index }]);
    },
  );
});

it('the gap limit counts what was passed over of a wallet that had handed out nothing when the backup was made', async () => {
  const scene = await ether({ kind: 'xpub', text: xpubOf(account(3)) });
  const { restore } = await backedUp(scene);
  const copy = await restore();
  const to = copy.recovery.wallets[0]?.to ?? 0;
  expect(copy.recovery.wallets).toMatchObject([{ from: 0, gapLimit: to + 20 }]);
  await copy.order();
  expect((await copy.status()).warnings.join()).toMatch(
    new RegExp(`raise the wallet's gap limit to ${to + 21} or more`),
  );
});

describe('money of lost hours', () => {
  const start = async () => {
    const scene = await ether({ kind: 'treasury', text: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' });
    const original = installation(scene, scene.app, scene.app.creator);
    await original.follow();
    return { scene, original, ...(await backedUp(scene)) };
  };

  it('beyond what was reckoned with moves the next address beyond it, and is found all the same', async () => {
    const { scene, original, restore } = await start();
    const sold = [];
    for (let made = 0; made < 6; made += 1) sold.push(await original.order());
    const last = sold.at(-1);
    await scene.pay(last?.address ?? '', last?.owed ?? 0n);
    scene.app.clock.advance(DAY_MS);
    // The test pretends that twice the busiest day is two.
    const copy = await restore(2);
    expect(copy.recovery.wallets).toMatchObject([{ from: 0, to: 2 }]);
    await copy.follow();
    expect((await copy.status()).lost.map(({ index }) => index)).toEqual([5]);
    expect((await copy.status()).warnings.join()).not.toMatch(/Another copy/);
    const next = await copy.order();
    expect(next.refused).toBeNull();
    const { address_index } = await copy.app.db
      .selectFrom('payment_addresses')
      .select('address_index')
      .where('payment_id', '=', next.id)
      .executeTakeFirstOrThrow();
    expect(address_index).toBe(6 + MIN_SKIP);
  });

  it('that a contract passed on, as exchanges do, is found by the balance', async () => {
    const { scene, original, restore } = await start();
    const { address, owed } = await original.order();
    scene.app.clock.advance(60_000);
    const copy = await restore();
    await copy.follow();
    await scene.payByContract?.(address, owed);
    scene.app.clock.advance(11 * 60_000);
    await scene.pay(`0x${'ee'.repeat(20)}`, 1n);
    await copy.follow();
    expect((await copy.status()).lost).toMatchObject([
      { address, index: 0, amountUnits: owed, transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/) },
    ]);
    scene.app.clock.advance(11 * 60_000);
    await scene.pay(`0x${'ee'.repeat(20)}`, 1n);
    await copy.follow();
    expect((await copy.status()).lost).toHaveLength(1);
    expect(await copy.reportedLost()).toHaveLength(1);
  });

  it('that a reorganisation takes back is no longer lost money, and is reported once when it returns', async () => {
    const { scene, original, restore } = await start();
    const { address, owed } = await original.order();
    const copy = await restore();
    await copy.follow();
    const takeOff = await scene.checkpoint?.();
    await scene.pay(address, owed);
    await copy.follow();
    expect((await copy.status()).lost).toHaveLength(1);
    await takeOff?.();
    await scene.pay(`0x${'ee'.repeat(20)}`, 1n);
    await scene.pay(`0x${'ee'.repeat(20)}`, 1n);
    await copy.follow();
    expect((await copy.status()).lost).toEqual([]);
    expect(
      await bookLost(copy.app, {
        address,
        amountMinor: 3_000n,
        currency: 'USD',
        merchantOrderId: null,
        projectId: null,
      }),
    ).toMatchObject({ kind: 'rejected' });
    await scene.pay(address, owed);
    await copy.follow();
    expect((await copy.status()).lost).toHaveLength(1);
  });
});
