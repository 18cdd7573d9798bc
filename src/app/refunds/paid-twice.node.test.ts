import { expect, it } from 'vitest';
import type { App } from '../context.ts';
import { etherShop, type EtherShop } from '../chains/follow-chain.fixture.ts';
import { attentionItems } from '../dashboard/attention.ts';
import { makeStatement } from '../dashboard/export-report.ts';
import { createServiceHealth } from '../dashboard/health.ts';
import { readPaymentDetails, type SeenPayment } from '../dashboard/payment-details.ts';
import type { Refund } from '../../domain/refund.ts';
import { findRefund } from '../../store/refunds/refunds.ts';
import { payoutOf } from '../../store/refunds/refund-payouts.ts';
import { cancelRefund } from './change-refund.ts';
import { keepReported } from './keep-sent.ts';
import { irregularPayouts } from './refund-cover.ts';
import { CUSTOMER, etherRefund, paidOrder, showEther } from './refund-ether.fixture.ts';
import { noteShown } from './shown-to.ts';

const OTHER = '0x52908400098527886E0F7030069857D2E4169EE7';

/** The statement, and the kinds of items that need attention. */
async function told({ app }: EtherShop) {
  const client = await app.database.connect();
  const scope = { projectId: app.projectId, mode: 'live', withSweeps: true } as const;
  const day = new Date(app.clock()).toISOString().slice(0, 10);
  const days = { from: day, to: day, zone: 'UTC' };
  const statement = await makeStatement(app, client, { scope, days }, () => Promise.resolve());
  await client.end();
  const sources = { serviceHealth: createServiceHealth(app, [], 0), sweeps: () => Promise.resolve([]) };
  const items = await attentionItems(app, { ...scope, role: 'owner' }, sources);
  return { statement, kinds: items.filter(({ payment }) => payment !== null).map(({ kind }) => kind) };
}

async function refundToPay() {
  const shop = await etherShop();
  const order = await paidOrder(shop);
  return { shop, refund: await etherRefund(shop, order) };
}

/** The refund's payment as the dashboard reads it. */
async function details({ app }: EtherShop, { paymentId }: Refund): Promise<SeenPayment> {
  const selector = { id: paymentId, api: 'order', projectId: app.projectId, mode: 'live' } as const;
  const seen = await readPaymentDetails(app, selector);
  if (seen === null) throw new Error('The payment is missing.');
  return seen;
}

const irregular = ({ app }: EtherShop, { paymentId }: Refund) => irregularPayouts(app, paymentId);

it('two reported transactions that pay one refund are named by its payment, the statement and what needs attention', async () => {
  const { shop, refund } = await refundToPay();
  const hashes = [await shop.anvil.transfer(CUSTOMER, refund.units), await shop.anvil.transfer(CUSTOMER, refund.units)];
  for (const hash of hashes) await keepReported(shop.app, refund, hash);
  expect((await told(shop)).kinds).not.toContain('refund_paid_twice');
  await shop.advance(3);
  const completed = await findRefund(shop.app.db, refund.id);
  expect(completed?.status).toBe('completed');
  expect((await payoutOf(shop.app.db, refund.id))?.transactionHash).toBe(completed?.transactionHash);
  const named = await irregular(shop, refund);
  expect(named).toEqual([{ kind: 'repeated', refundId: refund.id, hashes: expect.arrayContaining(hashes) }]);
  expect((await details(shop, refund)).irregularPayouts).toEqual(named);
  const { statement, kinds } = await told(shop);
  expect(kinds).toContain('refund_paid_twice');
  expect(statement).toMatchObject({
    verdict: 'explained',
    books: { repeatedRefunds: { count: 1, rows: [{ refundId: refund.id, payouts: 2, units: refund.units }] } },
  });
});

it('a second payout that nobody reported is named too, also long after the refund was completed', async () => {
  const { shop, refund } = await refundToPay();
  const first = await shop.anvil.transfer(CUSTOMER, refund.units);
  await shop.advance(3);
  expect((await findRefund(shop.app.db, refund.id))?.transactionHash).toBe(first);
  await shop.advance(200);
  const second = await shop.anvil.transfer(CUSTOMER, refund.units);
  await shop.advance(3);
  expect(await irregular(shop, refund)).toMatchObject([{ kind: 'repeated_perhaps', hashes: [first, second] }]);
  const guessed = await told(shop);
  expect(guessed.kinds).toContain('refund_paid_twice');
  expect(guessed.statement).toMatchObject({ verdict: 'balanced', books: { repeatedRefunds: { count: 0 } } });
  expect((await findRefund(shop.app.db, refund.id))?.transactionHash).toBe(first);
  // The merchant says that it was theirs.
  await keepReported(shop.app, refund, second);
  expect((await told(shop)).statement).toMatchObject({
    verdict: 'explained',
    books: { repeatedRefunds: { count: 1 } },
  });
});

it('a late payout of a cancelled refund is not taken for a second one of a paid refund, and is not given back again', async () => {
  const { shop, refund: first } = await refundToPay();
  await shop.anvil.transfer(CUSTOMER, first.units);
  await shop.advance(3);
  const cancelled = await etherRefund(shop, { id: first.paymentId });
  await cancelRefund(shop.app, { id: cancelled.id, isForced: true });
  const last = await etherRefund(shop, { id: first.paymentId }, { address: OTHER });
  shop.app.clock.advance(1);
  const rest = await etherRefund(shop, { id: first.paymentId }, { address: OTHER });
  await shop.anvil.transfer(CUSTOMER, first.units);
  await shop.advance(3);
  expect(await irregular(shop, first)).toMatchObject([{ kind: 'cancelled', refundId: cancelled.id }]);
  expect((await told(shop)).kinds).toContain('refund_paid_anyway');
  expect(await showEther(shop, rest)).toMatchObject({
    call: null,
    problem: expect.stringContaining('do not pay again'),
  });
  expect(await showEther(shop, last)).toMatchObject({ problem: null });
});

it('another refund of the same amount to the same address is paid by the second transaction, and neither twice', async () => {
  const { shop, refund } = await refundToPay();
  await shop.anvil.transfer(CUSTOMER, refund.units);
  await shop.advance(3);
  const next = await etherRefund(shop, { id: refund.paymentId });
  await shop.anvil.transfer(CUSTOMER, refund.units);
  await shop.advance(3);
  expect((await findRefund(shop.app.db, next.id))?.status).toBe('completed');
  expect(await irregular(shop, refund)).toEqual([]);
  expect((await told(shop)).statement.verdict).toBe('balanced');
});

it('the second person who is shown a refund to pay is told of the first, for a quarter of an hour', async () => {
  const { shop, refund } = await refundToPay();
  const as = (name: string): App => {
    const id =
      name === 'eva@shop.example' ? '01935a3c-0000-7000-8000-00000000000e' : '01935a3c-0000-7000-8000-00000000000a';
    return { ...shop.app, actor: { kind: 'person', id, name, ip: null } };
  };
  const [eva, ann] = [as('eva@shop.example'), as('ann@shop.example')];
  expect(await noteShown(eva, refund)).toEqual([]);
  expect(await noteShown(eva, refund)).toEqual([]);
  expect(await noteShown(ann, refund)).toMatchObject([{ name: 'eva@shop.example' }]);
  expect(await noteShown(eva, refund)).toMatchObject([{ name: 'ann@shop.example' }]);
  // Who looks again just before their wallet asks counts from then.
  shop.app.clock.advance(14 * 60_000);
  await noteShown(eva, refund);
  shop.app.clock.advance(2 * 60_000);
  expect(await noteShown(ann, refund)).toMatchObject([{ name: 'eva@shop.example' }]);
  shop.app.clock.advance(16 * 60_000);
  expect(await noteShown(ann, refund)).toEqual([]);
});
