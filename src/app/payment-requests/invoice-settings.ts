import type { InvoiceDocument } from '../../domain/invoice-document.ts';
import { INVOICE_LIMITS, partyFaults, type InvoiceFault } from '../../domain/parse-invoice.ts';
import type { Database } from '../../store/database.ts';
import {
  findInvoiceSettings,
  saveInvoiceSettings,
  type InvoiceSettings,
} from '../../store/payments/invoice-documents.ts';
import { findProject, lockProject } from '../../store/projects/projects.ts';
import { differences, recordAudit } from '../audit.ts';
import { noProject, rejected, type Rejected } from '../rejected.ts';
import type { Documents } from './invoice-pdf.ts';
import { tryRendering, type Unprintable } from './try-rendering.ts';

export type { InvoiceSettings };

const MAX_PREFIX = 20;
const MAX_DUE_DAYS = 365;
const USUAL: InvoiceSettings = {
  prefix: 'INV-',
  sellerLines: [],
  sellerTaxId: null,
  vatRate: 0,
  dueDays: 14,
  reminds: false,
};

/** An invoice with nothing but its seller. */
const TRIAL: Omit<InvoiceDocument, 'number' | 'seller'> = {
  issuedOn: '2026-01-31',
  suppliedOn: null,
  dueOn: '2026-01-31',
  buyer: null,
  currency: 'EUR',
  pricesIncludeTax: false,
  items: [{ description: '-', quantity: 1_000n, unitMinor: 1n, rate: 0 }],
  note: null,
  paymentUrl: '',
  paid: null,
};
const TRIAL_LOOKS = { language: 'en', logo: null } as const;

/** The settings of a project for invoices; without a seller's lines until they are entered. */
export async function invoiceSettings(db: Database, projectId: string): Promise<InvoiceSettings> {
  return (await findInvoiceSettings(db, projectId)) ?? USUAL;
}

/**
 * Saves what a project prints on later invoices, after an invoice with it was rendered. Those that were issued stay as
 * they are.
 */
export async function changeInvoiceSettings(
  { app, renderer }: Documents,
  projectId: string,
  given: InvoiceSettings,
): Promise<
  | { readonly kind: 'done'; readonly settings: InvoiceSettings }
  | { readonly kind: 'invalid'; readonly faults: readonly InvoiceFault[] }
  | Unprintable
  | Rejected
> {
  const { prefix, sellerLines, sellerTaxId, vatRate, dueDays } = given;
  // After a digit, the year would not be told from the rest: 001 and 2026 make 0012026.
  if (!new RegExp(`^[A-Za-z0-9._/-]{0,${MAX_PREFIX}}(?<![0-9])$`).test(prefix)) {
    return rejected('invoice_prefix', { param: 'prefix', max: MAX_PREFIX });
  }
  if (!Number.isInteger(vatRate) || vatRate < 0 || vatRate > INVOICE_LIMITS.rate) {
    return rejected('vat_rate', { param: 'vatRate' });
  }
  if (!Number.isInteger(dueDays) || dueDays < 0 || dueDays > MAX_DUE_DAYS) {
    return rejected('whole_number', { param: 'dueDays', min: 0, max: MAX_DUE_DAYS });
  }
  const seller = { lines: sellerLines, taxId: sellerTaxId };
  const faults = partyFaults('seller', seller);
  if (faults.length > 0) return { kind: 'invalid', faults };
  const unprintable = await tryRendering(renderer, { ...TRIAL, number: `${prefix}2026-9999`, seller }, TRIAL_LOOKS);
  if (unprintable !== null) return unprintable;
  return app.db.transaction().execute(async (trx) => {
    await lockProject(trx, projectId);
    if ((await findProject(trx, projectId)) === null) return noProject(projectId);
    const before = (await findInvoiceSettings(trx, projectId)) ?? USUAL;
    await saveInvoiceSettings(trx, projectId, given);
    const changed = differences(before, given);
    if (Object.keys(changed.after).length > 0) {
      const subject = { kind: 'project', id: projectId } as const;
      await recordAudit(app, trx, { action: 'project.invoices', projectId, subject, ...changed });
    }
    return { kind: 'done', settings: given };
  });
}
