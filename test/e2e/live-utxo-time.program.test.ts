import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { textAt } from '../../src/cli/program.fixture.ts';
import { utxoNodeKindsFor } from '../litecoind.ts';
import { CONFIRMATIONS, openShop, OWED, OWED_COINS, POLL, type LiveOrder, type UtxoShop } from './live-utxo.fixture.ts';
import { DEADLINE_MS } from '../deadline.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** The shortest life that an order may have. */
const SHORT = { expires_in: 60 };

describe.each(utxoNodeKindsFor(import.meta.url))('time and payments on a real %s node', (kind) => {
  let shop: UtxoShop;
  beforeAll(async () => {
    shop = await openShop({ kind, where: 'process', env: { MONITORING_HOURS: '3' } });
  });
  afterAll(() => shop?.close());
  beforeEach(() => setNodeClock());

  /** Blocks are dated by the node's clock. */
  const setNodeClock = async (at = shop.now()): Promise<void> =>
    void (await shop.node.rpc('setmocktime', [Math.floor(at / SECOND)]));

  async function mine(count: number): Promise<void> {
    await setNodeClock();
    await shop.node.mine(count);
  }

  /** Lets a minute pass in which an order expires that nobody pays. */
  async function passExpiry(): Promise<void> {
    const unpaid = await shop.order(SHORT);
    await shop.advance(MINUTE + SECOND);
    await shop.becomes(unpaid.id, { status: 'expired' });
    await hears(unpaid, ['order.expired']);
  }

  /** Long overdue payments are polled once a minute. */
  const becomesInMinutes = (id: string, fields: object) =>
    expect
      .poll(() => shop.advance(MINUTE).then(() => shop.read(id)), { timeout: DEADLINE_MS, interval: 2_500 })
      .toMatchObject(fields);

  /** Waits until the merchant has heard these events of an order after its creation. */
  const hears = ({ id }: { readonly id: string }, types: readonly string[]) =>
    expect.poll(() => shop.heard(id), POLL).toEqual(['order.created', ...types]);

  /** An order of which a third was paid. */
  async function partPaid(): Promise<LiveOrder> {
    const order = await shop.order(SHORT);
    await shop.pay([[order.address, OWED / 3n]]);
    await shop.becomes(order.id, { status: 'pending', exception: 'underpaid' });
    return order;
  }

  const accept = ({ id }: LiveOrder) => shop.api(`/v1/orders/${id}/accept`, {});

  it('a payment that is seen before expiry does not expire while it waits, and completes without an exception', async () => {
    const { id, address } = await shop.order(SHORT);
    await shop.advance(40 * SECOND);
    await shop.pay([[address, OWED]]);
    await shop.becomes(id, { status: 'confirming', confirmations: 0 });
    await passExpiry();
    expect(await shop.read(id)).toMatchObject({ status: 'confirming', exception: 'none' });
    await mine(CONFIRMATIONS);
    await shop.becomes(id, { status: 'completed', exception: 'none' });
    await expect.poll(() => shop.heard(id), POLL).toEqual(['order.created', 'order.confirming', 'order.completed']);
  });

  it('while the service is down, a block of the last second before expiry is in time, and one of the next is late', async () => {
    const [inTime, late] = [await shop.order(SHORT), await shop.order(SHORT)];
    const secondOf = async ({ id }: LiveOrder): Promise<number> =>
      Math.ceil(Date.parse(textAt(await shop.read(id), 'expires_at')) / SECOND) * SECOND;
    const ends = [await secondOf(inTime), await secondOf(late)] as const;
    await shop.stop();
    await setNodeClock(ends[0] - SECOND);
    await shop.mineOnly(1, [await shop.sign([[inTime.address, OWED]])]);
    await setNodeClock(ends[1]);
    await shop.mineOnly(1, [await shop.sign([[late.address, OWED]])]);
    await shop.advance(ends[1] + SECOND - shop.now());
    await shop.start();
    await shop.becomes(inTime.id, { status: 'confirming', exception: 'none' });
    await shop.becomes(late.id, { status: 'expired', exception: 'paid_late', amount_received: OWED_COINS });
    await mine(CONFIRMATIONS);
    await shop.becomes(inTime.id, { status: 'completed', exception: 'none' });
    await shop.becomes(late.id, { status: 'expired', confirmations: CONFIRMATIONS });
    await hears(inTime, ['order.confirming', 'order.completed']);
    await hears(late, ['order.exception', 'order.expired']);
  });

  it('late money is recorded and published, and the merchant may accept it once it is confirmed', async () => {
    const order = await shop.order(SHORT);
    await passExpiry();
    await shop.becomes(order.id, { status: 'expired', exception: 'none' });
    const { hash } = await shop.pay([[order.address, OWED]]);
    await shop.becomes(order.id, { status: 'expired', exception: 'paid_late', amount_received: OWED_COINS });
    expect((await accept(order)).status).toBe(400);
    await mine(CONFIRMATIONS);
    await shop.becomes(order.id, { status: 'expired', confirmations: CONFIRMATIONS, transaction_hash: null });
    expect(await accept(order)).toMatchObject({ status: 200, body: { status: 'completed', transaction_hash: hash } });
    expect((await accept(order)).status).toBe(400);
    await hears(order, ['order.expired', 'order.exception', 'order.completed']);
  });

  it('a part fails the order at its expiry, and the merchant may accept what is there', async () => {
    const order = await partPaid();
    await mine(CONFIRMATIONS);
    await shop.becomes(order.id, { confirmations: CONFIRMATIONS });
    await passExpiry();
    await shop.becomes(order.id, { status: 'failed', failure_reason: 'underpaid', exception: 'underpaid' });
    expect(await accept(order)).toMatchObject({ status: 200, body: { status: 'completed', exception: 'underpaid' } });
    await hears(order, ['order.exception', 'order.failed', 'order.completed']);
  });

  it('a part in time and the rest too late is failed and paid late, with all money on record', async () => {
    const order = await partPaid();
    await passExpiry();
    await shop.becomes(order.id, { status: 'failed' });
    await shop.pay([[order.address, OWED - OWED / 3n]]);
    await mine(CONFIRMATIONS);
    await shop.becomes(order.id, { status: 'failed', exception: 'paid_late', amount_received: OWED_COINS });
    await hears(order, ['order.exception', 'order.failed', 'order.exception']);
  });

  it('money for a cancelled order is recorded, published, and may be accepted', async () => {
    const order = await shop.order();
    expect((await shop.api(`/v1/orders/${order.id}/cancel`, {})).status).toBe(200);
    await shop.pay([[order.address, OWED]]);
    await mine(CONFIRMATIONS);
    await shop.becomes(order.id, { status: 'cancelled', exception: 'paid_late', confirmations: CONFIRMATIONS });
    expect(await accept(order)).toMatchObject({ status: 200, body: { status: 'completed' } });
    await hears(order, ['order.cancelled', 'order.exception', 'order.completed']);
  });

  it('a payment that is replaced after expiry has an hour in which it can be paid again in time', async () => {
    const [again, never] = [await shop.order(SHORT), await shop.order(SHORT)];
    const paid = await shop.pay([
      [again.address, OWED],
      [never.address, OWED],
    ]);
    await shop.becomes(again.id, { status: 'confirming' });
    await passExpiry();
    await shop.pay([[await shop.node.newAddress(), OWED]], { coin: paid.coin, feeUnits: 1_000_000n });
    for (const { id } of [again, never]) await shop.becomes(id, { status: 'pending', amount_received: 0 });
    await shop.advance(50 * MINUTE);
    await shop.pay([[again.address, OWED]]);
    await shop.becomes(again.id, { status: 'confirming', exception: 'none' });
    expect(await shop.read(never.id)).toMatchObject({ status: 'pending' });
    await shop.advance(10 * MINUTE);
    await becomesInMinutes(never.id, { status: 'expired', exception: 'none' });
    await mine(CONFIRMATIONS);
    await shop.becomes(again.id, { status: 'completed', exception: 'none' });
    await hears(again, ['order.confirming', 'order.completed']);
    await hears(never, ['order.confirming', 'order.expired']);
  });

  it('a payment that never confirms within the monitoring window fails, and may be accepted when it does after all', async () => {
    const order = await shop.order(SHORT);
    const { hash } = await shop.pay([[order.address, OWED]]);
    await shop.becomes(order.id, { status: 'confirming' });
    await shop.advance(180 * MINUTE);
    await becomesInMinutes(order.id, { status: 'failed', failure_reason: 'unconfirmed' });
    await mine(CONFIRMATIONS);
    await shop.becomes(order.id, { status: 'failed', exception: 'paid_late', confirmations: CONFIRMATIONS });
    expect(await accept(order)).toMatchObject({ status: 200, body: { status: 'completed', transaction_hash: hash } });
    await hears(order, ['order.confirming', 'order.failed', 'order.exception', 'order.completed']);
  });
});
