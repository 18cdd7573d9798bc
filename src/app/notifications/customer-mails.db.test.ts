import { expect, it } from 'vitest';
import { sql } from 'kysely';
import { COMPLETE_AFTER_MS } from '../../../test/harness.ts';
import { deleteCustomerData } from '../../store/payments/customer-data.ts';
import { savePaymentLanguage } from '../../store/projects/customer-mails.ts';
import type { NewPayment } from '../payments/draft-payment.ts';
import { runDue } from '../payments/run-due.ts';
import { saveCustomerMailChoices, type CustomerMailChoices } from '../projects/customer-mails.ts';
import { saveChecked, saveProjectChanges, lockedProject } from '../projects/projects.ts';
import { createRefund } from '../refunds/create-refund.ts';
import { claimRefund } from '../refunds/change-refund.ts';
import { createLanguageNotes } from './note-language.ts';
import { refusalOf, refuseMails } from './customer-mails.ts';
import { followAll, mailApp, type MailApp } from './mails.fixture.ts';

const MINUTE_MS = 60_000;
const EMAIL = 'zqzqzqzqann@customer.example';

async function shop(choices: Partial<CustomerMailChoices> = {}) {
  const mails = await mailApp();
  const { app, mailer } = mails;
  const choose = async (changed: Partial<CustomerMailChoices>): Promise<void> => {
    const usual = { isOn: true, fromAddress: null, replyTo: null, language: 'en' };
    const saved = await saveCustomerMailChoices(app, app.projectId, { ...usual, ...changed });
    expect(saved.kind).toBe('done');
    app.clock.advance(1);
  };
  const follow = (): Promise<void> => followAll(mails);
  const send = async (): Promise<void> => {
    while (await mailer.sendDue());
  };
  await follow();
  await choose(choices);
  return {
    ...mails,
    choose,
    follow,
    send,
    round: async () => {
      await follow();
      await send();
    },
    paid: async (payment: Partial<NewPayment> = {}) => {
      const { id } = await app.pay({ mode: 'live', merchantOrderId: 'A-1', customerEmail: EMAIL, ...payment });
      app.clock.advance(COMPLETE_AFTER_MS);
      await runDue(app, 100);
      return id;
    },
    /** A payment of which half has arrived, and the event that says so. */
    half: async (payment: Partial<NewPayment> = {}) => {
      const { id } = await app.pay({ mode: 'live', merchantOrderId: 'A-1', customerEmail: EMAIL, ...payment });
      await sql`update payments set exception = 'underpaid', seen_units = owed_units / 2, status = 'pending'
        where id = ${id}`.execute(app.db);
      await sql`insert into events (id, project_id, mode, payment_id, type, body, created_at)
        select ${id}::uuid, project_id, mode, id, 'order.exception', '{}', ${new Date(app.clock()).toISOString()}::timestamptz
        from payments where id = ${id}`.execute(app.db);
      return id;
    },
    refund: (paymentId: string) =>
      createRefund(
        app,
        {
          projectId: app.projectId,
          mode: 'live',
          api: 'order',
          paymentId,
          reason: null,
          wanted: { amountMinor: 1_000n },
          address: null,
        },
        null,
      ),
  };
}

const plain = (raw = ''): string => raw.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=');
const textOf = ({ smtp }: MailApp, index = -1) => plain(smtp.taken.at(index)?.raw);
const subjects = ({ smtp }: MailApp) => smtp.taken.map(({ headers }) => headers.get('subject') ?? '');
const outcomes = async (mails: MailApp) => (await mails.rows()).map(({ outcome }) => outcome);

it('a customer gets one receipt, from the shop’s name, if the project mails customers', async () => {
  const here = await shop({ isOn: false });
  await here.paid();
  await here.round();
  expect(await here.rows()).toEqual([]);
  await here.choose({});
  await here.paid();
  await here.paid({ customerEmail: null });
  await here.round();
  await here.round();
  expect(subjects(here)).toEqual(['Your payment to Shop is complete']);
  const [mail] = here.smtp.taken;
  expect(mail?.to).toEqual([EMAIL]);
  expect(mail?.headers.get('from')).toBe('Shop <payments@shop.example>');
  expect(mail?.headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
  expect(textOf(here)).toMatch(/Thank you\. Your payment of \$100\.00 USD to Shop is complete\./);
});

it('mails carry the shop’s logo and colour, its sender, and where replies go', async () => {
  const here = await shop({ fromAddress: 'hello@tea.example', replyTo: 'help@tea.example' });
  const bytes = Buffer.from('89504e470d0a1a0a', 'hex');
  const logo = { hash: 'ab'.repeat(32), width: 200, height: 100, type: 'image/png', bytes } as const;
  await saveChecked(here.app, {}, async (trx) => {
    const before = await lockedProject(trx, here.app.projectId);
    if (before === null) throw new Error('There is no project.');
    const project = await saveProjectChanges(here.app, trx, before, { name: 'Tea & Co.', accent: 'ffee00', logo });
    return { kind: 'done', project };
  });
  await here.paid();
  await here.round();
  const [mail] = here.smtp.taken;
  expect(mail?.headers.get('from')).toBe('"Tea & Co." <hello@tea.example>');
  expect(mail?.headers.get('reply-to')).toBe('help@tea.example');
  expect(textOf(here)).toContain('Content-ID: <logo>');
  expect(textOf(here)).toContain('src="cid:logo" alt="Tea &amp; Co." width="96" height="48"');
  // The colour as white text is legible on it.
  expect(textOf(here)).toMatch(/background:#[0-9a-f]{6}/);
  expect(textOf(here)).not.toContain('background:#ffee00');
});

it.each([
  ['https://tea.example/help?from=mail&page=1', 'href="https://tea.example/help?from=mail&amp;page=1"'],
  ['mailto:100%@tea.example', '100%@tea.example'],
])('the shop’s link for questions is shown whole: %s', async (supportUrl, shown) => {
  const here = await shop();
  await saveChecked(here.app, {}, async (trx) => {
    const before = await lockedProject(trx, here.app.projectId);
    if (before === null) throw new Error('There is no project.');
    return { kind: 'done', project: await saveProjectChanges(here.app, trx, before, { supportUrl }) };
  });
  await here.paid();
  await here.round();
  expect(textOf(here)).toContain(shown);
});

it.each(['answer', 'answerRecipient'] as const)(
  'a server that takes nothing from the shop’s address, as its %s says, gets the mail from the service’s own',
  async (answer) => {
    const here = await shop({ fromAddress: 'hello@tea.example' });
    await here.paid();
    const isOwn = (from: string): boolean => from === 'hello@tea.example';
    if (answer === 'answer') here.smtp.answer = ({ from }) => (isOwn(from) ? 550 : 0);
    else here.smtp.answerRecipient = (from) => (isOwn(from) ? 553 : 0);
    await here.round();
    const [mail] = here.smtp.taken;
    expect(mail?.headers.get('from')).toBe('Shop <payments@shop.example>');
    expect(mail?.headers.get('reply-to')).toBe('hello@tea.example');
    expect(await outcomes(here)).toEqual(['sent']);
  },
);

it('the mail is in the language of the page as the customer saw it, or else in the project’s', async () => {
  const here = await shop({ language: 'fr' });
  await here.paid();
  const { id } = await here.app.pay({ mode: 'live', customerEmail: EMAIL });
  createLanguageNotes(here.app)(await here.app.read(id), 'ar');
  await savePaymentLanguage(here.app.db, id, 'de');
  here.app.clock.advance(COMPLETE_AFTER_MS);
  await runDue(here.app, 100);
  await here.round();
  expect(subjects(here)).toHaveLength(2);
  const all = here.smtp.taken.map(({ raw }) => plain(raw)).join();
  expect(all).toContain('lang="fr"');
  expect(all).toMatch(/lang="(?:de|ar" dir="rtl)"/);
});

it.each([
  ['a list', 'anna@customer.example, ben@customer.example'],
  ['with a line end', 'anna@customer.example\r\nBcc: eve@thief.example'],
  ['with a name', 'Anna <anna@customer.example>'],
])('an address that is %s is not mailed', async (_what, customerEmail) => {
  const here = await shop();
  await here.paid({ customerEmail });
  await here.round();
  expect(here.smtp.taken).toEqual([]);
  expect(await outcomes(here)).toEqual(['dropped']);
});

it('an address that bounces is given up at once, and holds up nobody else’s mail', async () => {
  const here = await shop();
  await here.paid({ customerEmail: 'gone@customer.example' });
  await here.paid();
  here.smtp.answer = ({ to }) => (to[0] === EMAIL ? 0 : 550);
  await here.round();
  expect((await outcomes(here)).toSorted((a, b) => String(a).localeCompare(String(b)))).toEqual(['refused', 'sent']);
  expect(here.mailer.problem()).toBe(null);
});

it('a customer whose data are deleted meanwhile gets none, and no mail holds their address', async () => {
  const here = await shop();
  await here.paid();
  await here.follow();
  expect(JSON.stringify(await here.rows())).not.toContain('zqzqzqzq');
  await here.app.db
    .transaction()
    .execute((trx) =>
      deleteCustomerData(trx, here.app.projectId, { kind: 'email', email: EMAIL }, { after: null, limit: 10 }),
    );
  await here.send();
  expect(await outcomes(here)).toEqual(['dropped']);
});

it('customers of test payments get none, unless they have an account that may see the payment', async () => {
  const here = await shop();
  await here.join('Ann@shop.example', 'viewer');
  await here.paid({ mode: 'test' });
  await here.paid({ mode: 'test', customerEmail: 'ann@shop.example' });
  await here.round();
  expect(here.smtp.taken.map(({ to }) => to)).toEqual([['ann@shop.example']]);
  expect(textOf(here)).toContain('This is a test. No real money moved.');
  expect(await outcomes(here)).toEqual(['sent']);
});

it('a customer who follows the link of a mail gets no more of this project, in any spelling', async () => {
  const here = await shop();
  await here.paid();
  await here.round();
  const token = /mails\/([\w-]{43})/.exec(textOf(here))?.[1] ?? '';
  expect(await refusalOf(here.app, token)).toEqual({ projectId: here.app.projectId });
  await here.paid();
  await here.round();
  expect(here.smtp.taken).toHaveLength(2);
  expect(await refuseMails(here.app, token)).toEqual({ projectId: here.app.projectId });
  expect(await refuseMails(here.app, token)).not.toBe(null);
  expect(await refuseMails(here.app, `${token.slice(1)}x`)).toBe(null);
  await here.paid({ customerEmail: EMAIL.toUpperCase() });
  await here.round();
  expect(here.smtp.taken).toHaveLength(2);
});

it('a part that arrived is mailed once, after a while, unless the rest has come', async () => {
  const here = await shop();
  const id = await here.half();
  const other = await here.half();
  await here.round();
  expect(subjects(here)).toEqual([]);
  await sql`update payments set exception = 'none', status = 'completed' where id = ${other}`.execute(here.app.db);
  here.app.clock.advance(4 * MINUTE_MS);
  await here.round();
  await here.round();
  expect(subjects(here)).toEqual(['Part of your payment to Shop has arrived']);
  const payment = await here.app.read(id);
  expect(payment.status).toBe('pending');
  expect(textOf(here)).toContain('Pay the rest');
});

it('a refund without an address is mailed with the link that asks for one, while it asks', async () => {
  const here = await shop();
  const paymentId = await here.paid();
  await here.round();
  expect((await here.refund(paymentId)).kind).toBe('done');
  await here.round();
  await here.round();
  expect(subjects(here).slice(1)).toEqual(['Your refund from Shop: $10.00 USD']);
  expect(textOf(here)).toMatch(/https:\/\/pay\.example\/refund\/re_\w+/);
  const made = await here.refund(paymentId);
  if (made.kind !== 'done') throw new Error(made.kind);
  await here.follow();
  await claimRefund(here.app, made.refund.id, 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4');
  await here.send();
  expect(subjects(here)).toHaveLength(2);
});

it('text of a customer or of the shop becomes neither a header nor markup', async () => {
  const here = await shop();
  await sql`update projects set name = ${'<b>Tea</b>\r\nBcc: eve@thief.example'}`.execute(here.app.db);
  await here.paid({ merchantOrderId: '<img src=x>\r\nBcc: eve@thief.example' });
  await here.round();
  const [mail] = here.smtp.taken;
  expect(mail?.to).toEqual([EMAIL]);
  expect(mail?.headers.has('bcc')).toBe(false);
  const markup = textOf(here).split('text/html').at(-1) ?? '';
  expect(markup).not.toContain('<img src');
  expect(markup).not.toContain('<b>');
});
