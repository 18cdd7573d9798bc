import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { COMPLETE_AFTER_MS } from '../../../test/harness.ts';
import type { ProjectChoices } from '../../domain/notification.ts';
import type { Database, Trx } from '../../store/database.ts';
import { deleteCustomerData } from '../../store/payments/customer-data.ts';
import type { NewPayment } from '../payments/draft-payment.ts';
import { runDue } from '../payments/run-due.ts';
import { setRole } from '../people/people.ts';
import { createRefund } from '../refunds/create-refund.ts';
import { runDueRefunds } from '../refunds/end-refunds.ts';
import { changeChoices, changeProjectChoices, unsubscribe, unsubscribeState } from './choices.ts';
import { enqueueDailyPaymentMails } from './daily-payment-mails.ts';
import { followPayments } from './follow-payments.ts';
import { followAll, mailApp, type MailApp } from './mails.fixture.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

interface Shop extends MailApp {
  /** Follows everything that is saved, and sends. */
  readonly round: () => Promise<void>;
  /** Payments that are completed. */
  readonly paid: (...payments: readonly Partial<NewPayment>[]) => Promise<readonly string[]>;
  readonly choose: (personId: string, choices: Partial<ProjectChoices>) => Promise<void>;
}

async function shop(): Promise<Shop> {
  const mails = await mailApp();
  const { app, mailer } = mails;
  const round = async (): Promise<void> => {
    await followAll(mails);
    await enqueueDailyPaymentMails(app);
    while (await mailer.sendDue());
  };
  await round();
  return {
    ...mails,
    round,
    paid: async (...payments) => {
      const ids: string[] = [];
      for (const payment of payments) ids.push((await app.pay({ mode: 'live', ...payment })).id);
      app.clock.advance(COMPLETE_AFTER_MS);
      await runDue(app, 100);
      return ids;
    },
    choose: async (personId, choices) => {
      app.clock.advance(1);
      expect(await changeProjectChoices(app, personId, app.projectId, choices)).toEqual({ kind: 'done' });
    },
  };
}

const subjects = ({ smtp }: MailApp) => smtp.taken.map(({ headers }) => headers.get('subject') ?? '');
const recipients = ({ smtp }: MailApp) => smtp.taken.flatMap(({ to }) => to).toSorted();
const textOf = ({ smtp }: MailApp, index = -1) => (smtp.taken.at(index)?.raw ?? '').replaceAll(/=\r?\n/g, '');

it('each completed live payment is mailed once, to those who chose it, and none that was completed before', async () => {
  const here = await shop();
  const ann = await here.join('ann@shop.example', 'viewer');
  await here.join('ben@shop.example', 'owner');
  await here.paid({ merchantOrderId: 'A-0' });
  await here.choose(ann, { payments: 'at_once' });
  await here.paid(
    { merchantOrderId: 'A-1', customerName: 'Zoë', customerEmail: 'zoe@customer.example' },
    { merchantOrderId: 'T-1', mode: 'test' },
  );
  await here.round();
  await here.round();
  expect(subjects(here)).toEqual(['You were paid $100.00: A-1']);
  expect(recipients(here)).toEqual(['ann@shop.example']);
  expect(textOf(here)).toContain('zoe@customer.example');
  await here.paid(...Array.from({ length: 5 }, (_, index) => ({ merchantOrderId: `B-${index}` })));
  await here.round();
  expect(subjects(here)).toHaveLength(6);
  expect(new Set(subjects(here)).size).toBe(6);
});

async function saveCompletion(
  { db, clock }: { readonly db: Database | Trx; readonly clock: () => number },
  id: string,
) {
  await sql`insert into payment_arrows (payment_id, from_status, to_status, cause, at)
    values (${id}, 'confirming', 'completed', 'money', ${new Date(clock()).toISOString()}::timestamptz)`.execute(db);
}

it('a transition that is saved after one with a higher id is not passed over', async () => {
  const here = await shop();
  const ann = await here.join('ann@shop.example', 'owner');
  await here.choose(ann, { payments: 'at_once' });
  const late = await here.app.pay({ mode: 'live', merchantOrderId: 'late' });
  const early = await here.app.pay({ mode: 'live', merchantOrderId: 'early' });
  const saved = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const slow = here.app.db.transaction().execute(async (trx) => {
    await saveCompletion({ ...here.app, db: trx }, late.id);
    begun.resolve();
    await saved.promise;
  });
  await begun.promise;
  await saveCompletion(here.app, early.id);
  for (let count = 0; count < 3; count += 1) await followPayments(here.app);
  // Nothing of a transaction that is still open may be passed.
  expect(await here.rows()).toEqual([]);
  saved.resolve();
  await slow;
  await here.round();
  expect(subjects(here).toSorted()).toEqual(['You were paid $100.00: early', 'You were paid $100.00: late']);
});

it('two processes that follow at once make each mail once, and one that ends in a round makes none twice', async () => {
  const here = await shop();
  const ann = await here.join('ann@shop.example', 'owner');
  await here.choose(ann, { payments: 'at_once' });
  await here.paid(...Array.from({ length: 10 }, (_, index) => ({ merchantOrderId: `C-${index}` })));
  for (let count = 0; count < 4; count += 1) {
    here.app.clock.advance(1_000);
    await Promise.all([followPayments(here.app), followPayments(here.app), followPayments(here.app)]);
  }
  // The place in the log is lost.
  await sql`update mail_progress set taken_in = 0`.execute(here.app.db);
  await here.round();
  expect(subjects(here)).toHaveLength(10);
  expect(new Set(subjects(here)).size).toBe(10);
});

it('a payment whose customer’s data were deleted is mailed without them', async () => {
  const here = await shop();
  const ann = await here.join('ann@shop.example', 'owner');
  await here.choose(ann, { payments: 'at_once' });
  const email = 'zqzqzqzqann@customer.example';
  await here.paid({ merchantOrderId: 'A-1', customerEmail: email, description: 'zqzqzqzqTea' });
  await followAll(here);
  expect(JSON.stringify(await here.rows())).not.toContain('zqzqzqzq');
  await here.app.db
    .transaction()
    .execute((trx) =>
      deleteCustomerData(trx, here.app.projectId, { kind: 'email', email }, { after: null, limit: 10 }),
    );
  await here.round();
  expect(subjects(here)).toEqual(['You were paid $100.00: A-1']);
  expect(textOf(here)).not.toContain('zqzqzqzq');
});

it('text of a customer becomes neither a header nor markup', async () => {
  const here = await shop();
  const ann = await here.join('ann@shop.example', 'owner');
  await here.choose(ann, { payments: 'at_once' });
  await here.paid({
    merchantOrderId: 'A-1\r\nBcc: eve@thief.example',
    customerName: '<img src=x>\r\nSubject: Free',
    customerEmail: 'a@b.example',
  });
  await here.round();
  const [mail] = here.smtp.taken;
  expect(mail?.to).toEqual(['ann@shop.example']);
  expect(mail?.headers.has('bcc')).toBe(false);
  expect(mail?.headers.get('subject')).toContain('You were paid');
  expect(textOf(here)).toContain('&lt;img');
  expect(textOf(here).split('text/html').at(-1)).not.toContain('<img');
});

it('a role that was taken away and a choice that was changed count up to the last moment', async () => {
  const here = await shop();
  const ann = await here.join('ann@shop.example', 'owner');
  const ben = await here.join('ben@shop.example', 'viewer', here.app.projectId);
  await here.join('cat@shop.example', 'owner');
  await here.choose(ann, { payments: 'at_once' });
  await here.choose(ben, { payments: 'at_once' });
  await here.paid({ merchantOrderId: 'A-1' });
  await followAll(here);
  await here.choose(ann, { payments: 'off' });
  const taken = { projectId: here.app.projectId, role: null } as const;
  expect((await setRole(here.app, { email: 'ben@shop.example' }, taken)).kind).toBe('done');
  await here.round();
  expect(subjects(here)).toEqual([]);
  expect((await here.rows()).map(({ outcome }) => outcome)).toEqual(['dropped', 'dropped']);
});

it('refunds are mailed while payments are saved without a pause', async () => {
  const here = await shop();
  const ann = await here.join('ann@shop.example', 'owner');
  await here.choose(ann, { refunds: true });
  const [paymentId = ''] = await here.paid({ merchantOrderId: 'A-1' });
  await followPayments(here.app);
  const asked = { mode: 'live', api: 'order', paymentId, wanted: null, address: null, reason: null } as const;
  expect((await createRefund(here.app, { projectId: here.app.projectId, ...asked }, null)).kind).toBe('done');
  for (let count = 0; count < 5; count += 1) {
    here.app.clock.advance(2_000);
    await saveCompletion(here.app, paymentId);
    await followPayments(here.app);
  }
  while (await here.mailer.sendDue());
  expect(subjects(here)).toEqual([expect.stringMatching(/^Refund created/)]);
});

it('refunds are mailed as they are created, paid and failed, each once', async () => {
  const here = await shop();
  const ann = await here.join('ann@shop.example', 'owner');
  const [paymentId = ''] = await here.paid({ merchantOrderId: 'A-1' });
  const { projectId } = here.app;
  const request = { projectId, mode: 'live', api: 'order', paymentId, reason: null } as const;
  const make = (minor: bigint) =>
    createRefund(here.app, { ...request, wanted: { amountMinor: minor }, address: null }, null);
  expect((await make(100n)).kind).toBe('done');
  await here.round();
  await here.choose(ann, { refunds: true });
  expect((await make(1_000n)).kind).toBe('done');
  await here.round();
  await here.round();
  expect(subjects(here)).toEqual(['Refund created: $10.00 for A-1']);
  here.app.clock.advance(8 * DAY_MS);
  await runDueRefunds(here.app, 10);
  await here.round();
  expect(subjects(here).slice(1).toSorted()).toEqual(['Refund failed: $1.00 for A-1', 'Refund failed: $10.00 for A-1']);
  expect(textOf(here)).toContain('within seven days');
});

it('the sum of a day comes at eight in the person’s zone, once, and not for a day without payments', async () => {
  const here = await shop();
  const ann = await here.join('ann@shop.example', 'owner');
  await changeChoices(here.app, ann, { zone: 'Europe/Berlin' });
  await here.choose(ann, { payments: 'daily' });
  await here.paid({ amountMinor: 1_050n }, { amountMinor: 2_000n }, { amountMinor: 9_900n, mode: 'test' });
  await here.round();
  // 22:30 in UTC is the next day in Berlin.
  here.app.clock.set(Date.UTC(2026, 5, 15, 22, 30));
  await here.paid({ amountMinor: 700n });
  here.app.clock.set(Date.UTC(2026, 5, 16, 5, 59));
  await here.round();
  expect(subjects(here)).toEqual([]);
  here.app.clock.set(Date.UTC(2026, 5, 16, 6, 0));
  await here.round();
  await here.round();
  expect(subjects(here)).toEqual(['Shop: $30.50 from 2 payments']);
  here.app.clock.advance(DAY_MS);
  await here.round();
  expect(subjects(here).slice(1)).toEqual(['Shop: $7.00 from one payment']);
  here.app.clock.advance(DAY_MS);
  await here.round();
  expect(subjects(here)).toHaveLength(2);
});

it('the days on which the service was away are summed up in one mail', async () => {
  const here = await shop();
  const ann = await here.join('ann@shop.example', 'owner');
  await here.choose(ann, { payments: 'daily' });
  await here.paid({ amountMinor: 100n });
  here.app.clock.advance(DAY_MS);
  await here.paid({ amountMinor: 200n });
  here.app.clock.advance(DAY_MS);
  await here.round();
  expect(subjects(here)).toEqual(['Shop: $3.00 from 2 payments']);
  expect(textOf(here)).toContain('from Jun 15, 2026 to Jun 16, 2026');
});

it('the link of a mail switches it off for its project alone', async () => {
  const here = await shop();
  const ann = await here.join('ann@shop.example', 'owner');
  await here.choose(ann, { payments: 'at_once', refunds: true });
  await here.paid({ merchantOrderId: 'A-1' });
  await here.round();
  const token = /unsubscribe\/([\w-]{43})/.exec(textOf(here))?.[1] ?? '';
  expect(await unsubscribeState(here.app, token)).toEqual({ kind: 'open', notification: 'payments', project: 'Shop' });
  await unsubscribe(here.app, token, '203.0.113.7');
  await here.paid({ merchantOrderId: 'A-2' });
  await here.round();
  expect(subjects(here)).toEqual(['You were paid $100.00: A-1']);
  const { rows } = await sql<object>`select payments, refunds from project_notifications`.execute(here.app.db);
  expect(rows).toEqual([{ payments: 'off', refunds: true }]);
});

it('the statement of a month comes on its first at eight in the person’s zone, or later, once', async () => {
  const here = await shop();
  const ann = await here.join('ann@shop.example', 'owner');
  await here.choose(ann, { monthly: true });
  const [paymentId = ''] = await here.paid({ amountMinor: 1_050n }, { amountMinor: 2_000n });
  const { projectId } = here.app;
  const request = { projectId, mode: 'live', api: 'order', paymentId, reason: null, address: null } as const;
  expect((await createRefund(here.app, { ...request, wanted: { amountMinor: 50n } }, null)).kind).toBe('done');
  await sql`update refunds set status = 'completed', completed_at = created_at, transaction_hash = 'ab'`.execute(
    here.app.db,
  );
  here.app.clock.set(Date.UTC(2026, 6, 1, 7, 59));
  await here.round();
  expect(subjects(here)).toEqual([]);
  here.app.clock.set(Date.UTC(2026, 6, 1, 8, 0));
  await here.round();
  await here.round();
  expect(subjects(here)).toEqual(['Shop: your statement for June 2026']);
  expect(textOf(here)).toMatch(/Paid payments: 2\r\nSum: \$30\.50[\s\S]*Refunds paid: 1/);
  // The service is away on the first.
  here.app.clock.set(Date.UTC(2026, 7, 3, 1));
  await here.round();
  expect(subjects(here)).toEqual(['Shop: your statement for June 2026', 'Shop: your statement for July 2026']);
});
