import { expect, it } from 'vitest';
import { attachedPdf, type TakenMail } from '../../mail/smtp-server.fixture.ts';
import { readPdf, withoutSpaces } from '../../documents/pdf-text.fixture.ts';
import type { PaymentRequest } from '../../domain/payment-request.ts';
import { findInvoiceSummary } from '../../store/payments/invoice-documents.ts';
import { findRequest } from '../../store/payments/payment-requests.ts';
import { customerOf, refuse } from '../../store/projects/customer-mails.ts';
import { closeRequest } from '../payment-requests/close-request.ts';
import { begun, issued, withSeller } from '../payment-requests/invoices.fixture.ts';
import { settleDueRequests } from '../payment-requests/settle-requests.ts';
import { purgeOld } from '../purge-old.ts';
import { saveCustomerMailChoices } from '../projects/customer-mails.ts';
import { simulateOutcome } from '../sandbox/simulate-outcome.ts';
import { invoiceMailState, mailInvoice, remindBuyers } from './invoice-mails.ts';
import { followAll, mailApp } from './mails.fixture.ts';

const EMAIL = 'ann@customer.example';
const DAY_MS = 24 * 60 * 60_000;

async function shop(reminds = false) {
  const mails = await mailApp();
  const { app, smtp, mailer } = mails;
  await withSeller(app, { reminds });
  // A test invoice is only mailed to people of the project.
  await mails.join(EMAIL, 'viewer');
  const now = async ({ id }: PaymentRequest): Promise<PaymentRequest> => {
    const found = await findRequest(app.db, { id });
    if (found === null) throw new Error('There is no such request.');
    return found;
  };
  return {
    ...mails,
    mail: async (request: PaymentRequest) => {
      const email = (await findInvoiceSummary(app.db, request.id))?.email ?? null;
      return mailInvoice(app, await now(request), email);
    },
    state: async (request: PaymentRequest, email: string | null = EMAIL) =>
      invoiceMailState(app, await now(request), email),
    pay: async (request: PaymentRequest) => {
      await simulateOutcome(app, { id: await begun(app, request) }, 'paid');
      while ((await settleDueRequests(app, 100)) > 0);
    },
    /** Sends all mails, in a process that began just now. */
    send: async () => {
      while (await mails.newMailer().sendDue());
    },
    mailer,
    subjects: () => smtp.taken.map(({ headers }) => headers.get('subject') ?? ''),
  };
}

async function pdfText(mail: TakenMail | undefined): Promise<string> {
  const pdf = mail && attachedPdf(mail);
  return pdf ? (await readPdf(pdf.bytes)).pages.join('') : '';
}

const plain = (mail: TakenMail | undefined) => (mail?.raw ?? '').replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=');

it('an invoice is mailed with its link and PDF, in its language and from the shop', async () => {
  const here = await shop();
  const request = await issued(here.app, { email: EMAIL, language: 'nl' });
  expect(await here.mail(request)).toEqual({ kind: 'done' });
  // Pressed again while the first waits.
  await here.mail(request);
  await here.send();
  expect(here.subjects()).toEqual(['Factuur INV-2026-0001 van Shop']);
  const [mail] = here.smtp.taken;
  expect(mail?.to).toEqual([EMAIL]);
  expect(mail?.headers.get('from')).toBe('Shop <payments@shop.example>');
  expect(plain(mail)).toContain(`https://sandbox.pay.example/request/req_`);
  expect(mail && attachedPdf(mail)?.name).toBe('INV-2026-0001.pdf');
  expect(await pdfText(mail)).toContain(withoutSpaces('Factuurnr. INV-2026-0001').slice(-13));
  // On purpose a second time.
  await here.mail(request);
  await here.send();
  expect(here.subjects()).toHaveLength(2);
});

it('an invoice is mailed again, whatever became of its earlier mails', async () => {
  const here = await shop();
  const request = await issued(here.app, { email: EMAIL });
  for (const days of [0, 20, 16]) {
    here.app.clock.advance(days * DAY_MS);
    await purgeOld(here.app);
    expect(await here.mail(request)).toEqual({ kind: 'done' });
    await here.send();
  }
  expect(here.subjects()).toHaveLength(3);
});

it('a paid invoice has one receipt by mail, with its PDF, and none for its payments', async () => {
  const here = await shop();
  const choices = { isOn: true, fromAddress: null, replyTo: null, language: 'en' };
  await saveCustomerMailChoices(here.app, here.app.projectId, choices);
  await followAll(here);
  const request = await issued(here.app, { email: EMAIL });
  await here.pay(request);
  await followAll(here);
  await here.send();
  while ((await settleDueRequests(here.app, 100)) > 0);
  await here.send();
  expect(here.subjects()).toEqual(['Receipt for invoice INV-2026-0001 from Shop']);
  const [mail] = here.smtp.taken;
  expect(mail && attachedPdf(mail)?.name).toBe('INV-2026-0001-receipt.pdf');
  expect(await pdfText(mail)).toContain('Paidon');
  // Sent by hand, it is the receipt too.
  await here.mail(request);
  await here.send();
  expect(here.subjects()[1]).toBe('Receipt for invoice INV-2026-0001 from Shop');
});

it('buyers are reminded once before and once after the due date, over restarts, while money is missing', async () => {
  const here = await shop(true);
  const { app } = here;
  const remind = async (days: number): Promise<readonly string[]> => {
    app.clock.advance(days * DAY_MS);
    while (await remindBuyers(app, 1));
    while (await remindBuyers(app));
    await here.send();
    return here.subjects();
  };
  const paid = await issued(app, { email: EMAIL });
  await issued(app, { email: EMAIL });
  const closed = await issued(app, { email: EMAIL });
  // Without an address.
  await issued(app);
  await here.pay(paid);
  await closeRequest(app, { id: closed.id, projectId: closed.projectId, mode: closed.mode }, null);
  await here.send();
  here.smtp.taken.length = 0;
  expect(await remind(10)).toEqual([]);
  const before = [expect.stringMatching(/^Reminder: invoice INV-2026-0002 from Shop is due on/)];
  expect(await remind(2)).toEqual(before);
  expect(await pdfText(here.smtp.taken[0])).toContain('INV-2026-0002');
  expect(await remind(1)).toEqual(before);
  const both = [...before, 'Invoice INV-2026-0002 from Shop is overdue'];
  expect(await remind(5)).toEqual(both);
  for (const days of [1, 10, 100]) expect(await remind(days)).toEqual(both);
});

it('nobody is reminded by a project that does not, and late reminders after a long stop are left out', async () => {
  const here = await shop(false);
  await issued(here.app, { email: EMAIL });
  here.app.clock.advance(12 * DAY_MS);
  while (await remindBuyers(here.app, 1));
  await withSeller(here.app, { reminds: true });
  here.app.clock.advance(100 * DAY_MS);
  while (await remindBuyers(here.app, 1));
  await here.send();
  expect(here.subjects()).toEqual([]);
});

it('a reminder that waits is not sent once the invoice is paid', async () => {
  const here = await shop(true);
  const request = await issued(here.app, { email: EMAIL });
  here.app.clock.advance(12 * DAY_MS);
  while (await remindBuyers(here.app, 1));
  await here.pay(request);
  await here.send();
  expect(here.subjects()).toEqual(['Receipt for invoice INV-2026-0001 from Shop']);
});

it('no mail is sent to buyers who refused, of test invoices to strangers, without an address, or of closed invoices', async () => {
  const here = await shop();
  const { app } = here;
  const [own, strange, nameless] = [
    await issued(app, { email: EMAIL }),
    await issued(app, { email: 'eve@elsewhere.example' }),
    await issued(app),
  ];
  expect(await here.mail(strange)).toEqual({ kind: 'not_sent', state: 'not_of_people' });
  expect(await here.mail(nameless)).toEqual({ kind: 'not_sent', state: 'no_address' });
  expect(await here.state(own)).toBe('can');
  await here.mail(own);
  await refuse(app.db, customerOf(app.projectId, EMAIL.toUpperCase()), app.clock());
  expect(await here.mail(own)).toEqual({ kind: 'not_sent', state: 'refused' });
  await here.send();
  expect(here.subjects()).toEqual([]);
  expect((await here.rows()).map(({ outcome }) => outcome)).toEqual(['dropped']);
  await closeRequest(app, { id: own.id, projectId: own.projectId, mode: own.mode }, null);
  expect(await here.state(own)).toBe('ended');
  expect(await invoiceMailState({ ...app, sendsMail: false }, own, EMAIL)).toBe('no_server');
});

it('a mail waits while the renderer is busy, and is sent later', async () => {
  const here = await shop();
  const request = await issued(here.app, { email: EMAIL });
  await here.app.db.deleteFrom('invoice_pdfs').execute();
  await here.mail(request);
  const busy = { render: () => Promise.resolve({ kind: 'busy' } as const), stop: () => Promise.resolve() };
  while (await here.newMailer(here.sender, busy).sendDue());
  expect(here.subjects()).toEqual([]);
  here.app.clock.advance(2 * 60_000);
  await here.send();
  expect(here.subjects()).toHaveLength(1);
});
