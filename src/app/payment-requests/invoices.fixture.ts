import { expect } from 'vitest';
import type { TestApp } from '../../../test/harness.ts';
import type { DraftItem, InvoiceDraft } from '../../domain/parse-invoice.ts';
import type { PaymentRequest } from '../../domain/payment-request.ts';
import { changeInvoiceSettings, invoiceSettings, type InvoiceSettings } from './invoice-settings.ts';
import { issueInvoice, type IssueOutcome, type WantedInvoice } from './issue-invoice.ts';
import { dayOf } from './invoice-pdf.ts';
import { payRequest } from './pay-request.ts';

const DAY_MS = 24 * 60 * 60_000;

export const ITEM: DraftItem = { description: 'Espresso beans', quantity: '2', unitMinor: 1_000n, vatRate: '19' };

/** Two packs of coffee, with VAT on top: €23.80, due in 14 days. */
export function wantedInvoice(
  app: TestApp,
  { draft, ...change }: Partial<Omit<WantedInvoice, 'draft'>> & { readonly draft?: Partial<InvoiceDraft> } = {},
): WantedInvoice {
  const now = app.clock();
  return {
    projectId: app.projectId,
    mode: 'test',
    email: null,
    language: 'en',
    coins: null,
    ...change,
    draft: {
      issuedOn: dayOf(now),
      suppliedOn: null,
      dueOn: dayOf(now + 14 * DAY_MS),
      buyer: { lines: ['Ann Example', '1 Long Avenue'], taxId: null },
      currency: 'EUR',
      pricesIncludeTax: false,
      items: [ITEM],
      note: null,
      ...draft,
    },
  };
}

/** A project with a seller. */
export async function withSeller(app: TestApp, change: Partial<InvoiceSettings> = {}): Promise<void> {
  const usual = await invoiceSettings(app.db, app.projectId);
  const seller = { sellerLines: ['Northside Coffee Ltd', '12 Harbour Street'], sellerTaxId: 'DE123456789' };
  const saved = await changeInvoiceSettings({ app, renderer: app.renderer }, app.projectId, {
    ...usual,
    ...seller,
    ...change,
  });
  expect(saved.kind).toBe('done');
}

type Change = Parameters<typeof wantedInvoice>[1];

export function issue(app: TestApp, change: Change = {}, actor: TestApp = app): Promise<IssueOutcome> {
  return issueInvoice({ app: actor, renderer: app.renderer }, wantedInvoice(app, change), null);
}

/** An issued invoice's request. */
export async function issued(app: TestApp, change: Change = {}): Promise<PaymentRequest> {
  const outcome = await issue(app, change);
  if (outcome.kind !== 'done') throw new Error(JSON.stringify(outcome));
  return outcome.request;
}

/** The payment that somebody begins on the page of the request. */
export async function begun(app: TestApp, { id }: Pick<PaymentRequest, 'id'>): Promise<string> {
  const payer = { amountMinor: null, email: null, name: null, note: null, invoiceId: null };
  const outcome = await payRequest(app, id, payer);
  if (outcome.kind !== 'invoice') throw new Error(JSON.stringify(outcome));
  return outcome.payment.id;
}
