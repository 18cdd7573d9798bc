import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { testApp, type TestApp } from '../../../test/harness.ts';
import { clearRequests } from '../../store/payments/customer-requests.ts';
import { setInvoiceReminder } from '../../store/payments/invoice-documents.ts';
import { lockRequest } from '../../store/payments/payment-requests.ts';
import { remindBuyers } from '../notifications/invoice-mails.ts';
import { begun, issued, withSeller } from './invoices.fixture.ts';

const EMAIL = 'ann@customer.example';
const DAY_MS = 24 * 60 * 60_000;

async function twoInvoices() {
  const app = Object.assign(await testApp(), { sendsMail: true });
  await withSeller(app, { reminds: true });
  const older = await issued(app, { email: EMAIL });
  app.clock.advance(1);
  const newer = await issued(app, { email: EMAIL });
  return { app, older: older.id, newer: newer.id };
}

/** Locks the older request and then the newer one, as changes of payments do, while `other` is at work on both. */
async function meet({ app, older, newer }: Awaited<ReturnType<typeof twoInvoices>>, other: () => Promise<unknown>) {
  const { db } = app;
  return db.transaction().execute(async (trx) => {
    await lockRequest(trx, older);
    const running = other().then(
      () => 'done',
      (error: unknown) => String(error),
    );
    await vi.waitFor(async () => {
      const { rows } = await sql`select from pg_locks where not granted`.execute(db);
      expect(rows.length).toBeGreaterThan(0);
    });
    await lockRequest(trx, newer);
    return { running };
  });
}

const remindedFirst = (app: TestApp, id: string) =>
  app.db.transaction().execute((trx) => setInvoiceReminder(trx, id, app.clock() - DAY_MS));

it('reminders lock requests in the order in which payments do', async () => {
  const both = await twoInvoices();
  const { app } = both;
  app.clock.advance(11 * DAY_MS);
  await remindedFirst(app, both.newer);
  const { running } = await meet(both, () => remindBuyers(app));
  expect(await running).toBe('done');
  expect(await app.db.selectFrom('mails').select('id').execute()).toHaveLength(2);
});

it('the deletion of customers’ data locks requests in the order in which payments do', async () => {
  const both = await twoInvoices();
  const { app, older, newer } = both;
  const payments = [await begun(app, { id: newer })];
  app.clock.advance(1);
  payments.push(await begun(app, { id: older }));
  // The row of the older request is behind that of the newer one.
  await sql`update payment_requests set description = 'later' where id = ${older}`.execute(app.db);
  const { running } = await meet(both, () => app.db.transaction().execute((trx) => clearRequests(trx, payments)));
  expect(await running).toBe('done');
});
