import type { Locator, Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { attachedPdf, localSmtp, type LocalSmtp } from '../../src/mail/smtp-server.fixture.ts';
import { readPdf, withoutSpaces } from '../../src/documents/pdf-text.fixture.ts';
import { hasNoBrowser } from '../browser.ts';
import { WAIT } from '../deadline.ts';
import { EMAIL, overflowEnlarged, useDashboard, violations } from './dashboard.fixture.ts';

const SELLER = ['Northside Coffee Ltd', '12 Harbour Street'];

describe.skipIf(hasNoBrowser)('Invoices', () => {
  const ends: (() => Promise<void>)[] = [];
  let smtp: LocalSmtp | null = null;
  afterAll(async () => void (await Promise.all(ends.map((end) => end()))));
  const dashboard = useDashboard({
    settings: async () => {
      smtp = await localSmtp({}, {}, (end) => void ends.push(end));
      return { SMTP_URL: smtp.url, MAIL_FROM: 'Cointill <payments@shop.example>' };
    },
  });
  const scope = () => `${dashboard.service.dashboard}/projects/${dashboard.service.projectId}`;

  /** The subject and the PDF's text of a mail that arrives now. */
  async function nextMail(place: number) {
    await expect.poll(() => smtp?.taken.length, WAIT).toBe(place + 1);
    const mail = smtp?.taken[place];
    const pdf = mail && attachedPdf(mail);
    const pages = pdf ? (await readPdf(pdf.bytes)).pages : [];
    return { to: mail?.to, subject: mail?.headers.get('subject'), name: pdf?.name, text: pages.join('') };
  }

  /** Fills one item of the dialog. */
  async function fillItem(form: Locator, place: number, [description, quantity, price, rate]: readonly string[]) {
    const item = form.getByRole('group', { name: `Item ${place}` });
    await item.getByLabel('Description').fill(description ?? '');
    await item.getByLabel('Quantity').fill(quantity ?? '');
    await item.getByLabel('Price').fill(price ?? '');
    await item.getByLabel('VAT (%)').fill(rate ?? '');
  }

  /** Pays the invoice by the page of its request; returns how the page is then. */
  async function pay(page: Page, owner: Page, url: string): Promise<void> {
    await page.goto(url);
    await page.getByRole('link', { name: 'Invoice (PDF)' }).waitFor();
    expect(await violations(page, 'the page of an invoice')).toEqual([]);
    await page.getByRole('button', { name: /^Pay/ }).click();
    await page.waitForURL(/\/pay\/inv_/);
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const simulate = `/dashboard/api/projects/${dashboard.service.projectId}/test/payments/${id}/simulate`;
    const status = await owner.evaluate(
      `fetch('${simulate}', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"outcome":"paid"}' }).then((answer) => answer.status)`,
    );
    expect(status).toBe(200);
  }

  it('are set up, issued with clear errors and live sums, mailed as PDF, paid, and followed by a receipt', async () => {
    const { page } = await dashboard.openSignedIn({ expects: /status of 400/ });
    await page.goto(`${scope()}/test/settings`);
    await page.getByLabel('Seller', { exact: true }).fill(SELLER.join('\n'));
    await page.getByLabel('Usual VAT rate (%)').fill('101');
    const save = page.getByRole('button', { name: 'Save invoice settings' });
    await save.click();
    await page.getByText(/The VAT rate must be a percentage/).waitFor();
    await page.getByLabel('Usual VAT rate (%)').fill('19');
    await save.click();
    await page.getByText('The settings for invoices are saved.').waitFor();
    expect(await violations(page, 'the settings for invoices')).toEqual([]);

    await page.goto(`${scope()}/test/payment-requests`);
    await page.getByRole('button', { name: 'New invoice' }).click();
    const form = page.getByRole('dialog', { name: 'New invoice' });
    await form.getByLabel('Buyer (optional)').fill('Ann Example\n1 Long Avenue');
    await form.getByLabel('Buyer’s e-mail address (optional)').fill(EMAIL);
    await form.getByRole('combobox', { name: 'Currency' }).selectOption('EUR');
    await fillItem(form, 1, ['Espresso beans', '3', '19.99', '19']);
    await form.getByRole('button', { name: 'Add an item' }).click();
    await fillItem(form, 2, ['Filter papers', '1.5', '4', '101']);
    const submit = () => form.getByRole('button', { name: 'Issue invoice' }).click();
    await submit();
    await form.getByText(/The VAT rate must be a percentage from 0 to 100/).waitFor();
    expect(await violations(page, 'the form of an invoice')).toEqual([]);
    await fillItem(form, 2, ['Filter papers', '1.5', '4', '7']);
    // 59.97 and 6.00; VAT 11.39 and 0.42.
    await form.getByText('€77.78').waitFor();
    await form.getByRole('combobox', { name: 'Prices' }).selectOption('with');
    await form.getByText('€65.97').waitFor();
    await form.getByRole('combobox', { name: 'Prices' }).selectOption('without');
    await form.getByRole('radio', { name: 'Only some coins' }).click();
    await submit();
    await form.getByText('The list of coins must have at least one entry.').waitFor();
    expect(await violations(page, 'the coins of an invoice')).toEqual([]);
    await form.getByRole('checkbox', { name: 'BTC · Bitcoin' }).click();
    await form.getByLabel('Due date').fill('2020-01-31');
    await submit();
    await form.getByText('The due date must not be before the date of the invoice.').waitFor();
    await form.getByLabel('Due date').fill('2099-01-31');
    await submit();
    await form.getByText('The due date must be at most ten years after the date of the invoice.').waitFor();
    await form.getByLabel('Due date').fill(`${new Date().getFullYear() + 1}-01-31`);
    await submit();

    const panel = page.getByRole('complementary', { name: 'Payment request' });
    const number = `INV-${new Date().getFullYear()}-0001`;
    await panel.getByText(number, { exact: true }).first().waitFor();
    await panel.getByText('BTC/bitcoin', { exact: true }).waitFor();
    await panel.getByRole('button', { name: 'Send by e-mail' }).click();
    const invoice = await nextMail(0);
    expect(invoice).toMatchObject({ to: [EMAIL], name: `${number}.pdf` });
    for (const part of [number, ...SELLER, 'Ann Example', 'EUR 77.78', 'Filter papers'])
      expect(invoice.text).toContain(withoutSpaces(part));
    await panel.getByText('Sent').waitFor();
    expect(await violations(page, 'an invoice in its panel')).toEqual([]);
    expect(await overflowEnlarged(page)).toBe(0);

    const customer = await dashboard.openTab();
    const url = (await panel.locator('a[href*="/request/req_"]').getAttribute('href')) ?? '';
    await pay(customer.page, page, url);
    const receipt = await nextMail(1);
    expect(receipt).toMatchObject({ to: [EMAIL], name: `${number}-receipt.pdf` });
    expect(receipt.subject).toMatch(/^Receipt for invoice/);
    expect(receipt.text).toContain('Paidon');
    await panel.getByRole('link', { name: 'Receipt (PDF)' }).waitFor();
    expect(await violations(page, 'a paid invoice in its panel')).toEqual([]);
    await customer.page.goto(url);
    const download = customer.page.waitForEvent('download');
    await customer.page.getByRole('link', { name: 'Receipt (PDF)' }).click();
    expect((await download).suggestedFilename()).toBe(`${number}-receipt.pdf`);
    expect(await violations(customer.page, 'the page of a paid invoice')).toEqual([]);
  });

  it('that are open are shown with their customer, and say why nothing can be mailed', async () => {
    const { page } = await dashboard.openSignedIn();
    const { projectId, api } = dashboard.service;
    await api('/v1/orders', { amount: 5, currency: 'EUR', crypto_currency: 'BTC', customer_email: 'ann@else.example' });
    await page.goto(`${scope()}/test/payment-requests`);
    const today = await page.evaluate(`new Date().toLocaleDateString('sv-SE')`);
    const body = {
      request: 'another-invoice',
      issued_on: today,
      supplied_on: '',
      due_on: today,
      buyer_lines: '',
      buyer_tax_id: '',
      email: 'Ann@Else.example',
      currency: 'EUR',
      prices_include_vat: true,
      items: [{ description: 'W'.repeat(400), quantity: '1', price: '5', vat_rate: '7' }],
      note: '',
      language: 'ar',
    };
    const made = await page.evaluate(
      `fetch('/dashboard/api/projects/${projectId}/test/invoice-documents', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '${JSON.stringify(body)}' }).then((answer) => answer.status)`,
    );
    expect(made).toBe(200);
    await page.goto(`${scope()}/test/customers`);
    await page.getByRole('button', { name: 'ann@else.example' }).click();
    const customer = page.getByRole('complementary', { name: 'Customer' });
    await customer.getByText('€5.00 left to pay').waitFor();
    expect(await violations(page, 'a customer with an open invoice')).toEqual([]);
    await customer.getByRole('link', { name: /INV-/ }).click();
    await page.getByText(/in test mode, mails only go to addresses of people/).waitFor();
    expect(await violations(page, 'an invoice that cannot be mailed')).toEqual([]);
  });
});
