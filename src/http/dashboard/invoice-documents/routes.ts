import { mailInvoice, type InvoiceMailState } from '../../../app/notifications/invoice-mails.ts';
import { invoicePdf, type Documents } from '../../../app/payment-requests/invoice-pdf.ts';
import {
  changeInvoiceSettings,
  invoiceSettings,
  type InvoiceSettings,
} from '../../../app/payment-requests/invoice-settings.ts';
import { DOCUMENT_LANGUAGES, issueInvoice, type WantedInvoice } from '../../../app/payment-requests/issue-invoice.ts';
import { customerMailChoices } from '../../../app/projects/customer-mails.ts';
import { RATE_DECIMALS } from '../../../domain/invoice-document.ts';
import { fiatDecimals, FIATS, formatDecimal, isFiat, parseDecimal } from '../../../domain/money.ts';
import type { RefusalCode } from '../../../domain/sentence.ts';
import { findInvoiceSummary } from '../../../store/payments/invoice-documents.ts';
import { findRequest } from '../../../store/payments/payment-requests.ts';
import { findProject } from '../../../store/projects/projects.ts';
import { readCoins } from '../../common-fields.ts';
import { notFound } from '../../errors.ts';
import { refusalError, sentenceError } from '../../page-sentences.ts';
import { invoiceFile, sendPdf } from '../../pdf.ts';
import { CONTRACT, type AnswerOf, type BodyOf } from '../contract.ts';
import { noRequest, requestSelector, requestViewer } from '../payment-requests/routes.ts';
import { done, refusedError } from '../refusal-words.ts';
import type { Dashboard, Routes } from '../route.ts';
import { formRequest, notAgain, scopeIn, type ProjectScope } from '../scope.ts';
import type { InvoiceSettingsView } from './contract.ts';
import { faultError, unprintableError } from './faults.ts';

const SETTINGS = '/dashboard/api/projects/:project/settings/invoices';
const DOCUMENTS = '/dashboard/api/projects/:project/:mode/invoice-documents';
const REQUEST = '/dashboard/api/projects/:project/:mode/payment-requests/:request';
const ISSUE = `POST ${DOCUMENTS}` as const;
const MANAGE = { action: 'manage_settings' } as const;
const CHANGE = { action: 'change_payments' } as const;
/** Two hundred items of the longest descriptions. */
const MAX_BODY_BYTES = 1_048_576;

/** Invoices as documents, and the settings for them. */
export function invoiceDocumentRoutes(routes: Routes, dashboard: Dashboard): void {
  const { people, renderer } = dashboard;
  const { app: core } = people;
  settingsOf(routes, dashboard);
  routes.add(`GET ${DOCUMENTS}/defaults`, CHANGE, async ({ scope: { projectId } }) => {
    const [project, settings, mails] = await Promise.all([
      findProject(core.db, projectId),
      invoiceSettings(core.db, projectId),
      customerMailChoices(core.db, projectId),
    ]);
    return {
      seller: settings.sellerLines.length === 0 ? null : [...settings.sellerLines],
      vat_rate: formatDecimal(BigInt(settings.vatRate), RATE_DECIMALS),
      due_days: settings.dueDays,
      currency: project?.defaultCurrency ?? 'USD',
      currencies: [...FIATS],
      language: mails.language,
      languages: [...DOCUMENT_LANGUAGES],
    };
  });
  routes.add(ISSUE, { ...CHANGE, bodyLimit: MAX_BODY_BYTES }, async ({ scope, body, request, own }) => {
    const idempotency = formRequest(request, scope, body.request);
    const outcome = await issueInvoice({ app: own, renderer }, wantedOf(scope, body), idempotency);
    switch (outcome.kind) {
      case 'done':
      case 'replayed':
        return JSON.parse(outcome.body) as AnswerOf<typeof ISSUE>;
      case 'invalid':
        throw faultError(outcome.faults[0] ?? { field: 'items', rule: 'empty' }, body.currency);
      case 'missing_characters':
      case 'busy':
        throw unprintableError(outcome);
      case 'refused':
        throw refusedError(outcome, outcome.param);
      case 'rejected':
        throw refusalError(outcome);
      case 'key_reused':
      case 'still_running':
        throw notAgain(outcome.kind);
    }
  });
  const details = requestViewer(core);
  routes.add(`POST ${REQUEST}/mail`, CHANGE, async ({ scope, params, request, own }) => {
    const found = await findRequest(core.db, requestSelector(scope, params.request));
    const invoice = found && (await findInvoiceSummary(core.db, found.id));
    if (found === null || invoice === null) throw noRequest();
    const outcome = await mailInvoice(own, found, invoice.email);
    if (outcome.kind === 'not_sent') throw sentenceError('conflict_error', NOT_SENT[outcome.state]);
    return details(request, scope, found);
  });
  fileRoute(routes, { app: core, renderer });
}

/** Why a mail about an invoice would not be sent, as sentences. */
const NOT_SENT = {
  no_server: 'invoice_mail_no_server',
  no_address: 'invoice_mail_no_address',
  refused: 'invoice_mail_refused',
  not_of_people: 'invoice_mail_not_of_people',
  ended: 'request_ended',
} as const satisfies Readonly<Record<Exclude<InvoiceMailState, 'can'>, RefusalCode>>;

function fileRoute({ app }: Routes, documents: Documents): void {
  const url = `${REQUEST}/files/:file` as const;
  const schema = { hide: true, params: CONTRACT[`GET ${url}`].params };
  const config = { guard: { kind: 'session', action: 'read_payments' } } as const;
  type Params = { readonly project: string; readonly mode: string; readonly request: string; readonly file: string };
  app.get<{ Params: Params }>(url, { config, schema }, async (request, reply) => {
    const { request: id, file: name } = request.params;
    const found = await findRequest(documents.app.db, requestSelector(scopeIn(request, request.params), id));
    const file = invoiceFile(name);
    if (found === null || file === null) throw notFound('There is no such file.');
    return sendPdf(reply, await invoicePdf(documents, found, file));
  });
}

function settingsOf(routes: Routes, { people: { app: core }, renderer }: Dashboard): void {
  const viewOf = (settings: InvoiceSettings): InvoiceSettingsView => ({
    prefix: settings.prefix,
    seller_lines: settings.sellerLines.join('\n'),
    seller_tax_id: settings.sellerTaxId ?? '',
    vat_rate: formatDecimal(BigInt(settings.vatRate), RATE_DECIMALS),
    due_days: String(settings.dueDays),
    reminds: settings.reminds,
    sends_mail: core.sendsMail === true,
  });
  routes.add(`GET ${SETTINGS}`, MANAGE, async ({ scope: { projectId } }) =>
    viewOf(await invoiceSettings(core.db, projectId)),
  );
  routes.add(`POST ${SETTINGS}`, MANAGE, async ({ scope: { projectId }, body, own }) => {
    const days = body.due_days.trim();
    const saved = await changeInvoiceSettings({ app: own, renderer }, projectId, {
      prefix: body.prefix.trim(),
      sellerLines: linesOf(body.seller_lines),
      sellerTaxId: textOrNull(body.seller_tax_id),
      vatRate: Number(decimalOf(body.vat_rate, RATE_DECIMALS) ?? NaN),
      // A text that is not a number breaks the number's rule.
      dueDays: /^\d{1,9}$/.test(days) ? Number(days) : NaN,
      reminds: body.reminds,
    });
    if (saved.kind === 'missing_characters' || saved.kind === 'busy') throw unprintableError(saved);
    if (saved.kind === 'invalid') throw faultError(saved.faults[0] ?? { field: 'seller.lines', rule: 'empty' }, '');
    return viewOf(done(saved).settings);
  });
}

function wantedOf({ projectId, mode }: ProjectScope, body: BodyOf<typeof ISSUE>): WantedInvoice {
  const decimals = isFiat(body.currency) ? fiatDecimals(body.currency) : 2;
  const buyer = linesOf(body.buyer_lines);
  const taxId = textOrNull(body.buyer_tax_id);
  return {
    projectId,
    mode,
    email: textOrNull(body.email),
    language: body.language,
    coins: readCoins(body.coins),
    draft: {
      issuedOn: body.issued_on,
      suppliedOn: textOrNull(body.supplied_on),
      dueOn: body.due_on,
      buyer: buyer.length === 0 && taxId === null ? null : { lines: buyer, taxId },
      currency: body.currency,
      pricesIncludeTax: body.prices_include_vat,
      items: body.items.map(({ description, quantity, price, vat_rate: vatRate }) => ({
        description: description.trim(),
        quantity: quantity.trim(),
        // No number breaks the rule of prices, as one below 0 does.
        unitMinor: decimalOf(price, decimals) ?? -1n,
        vatRate: vatRate.trim(),
      })),
      note: textOrNull(body.note),
    },
  };
}

function decimalOf(text: string, decimals: number): bigint | null {
  return text.length > 30 ? null : parseDecimal(text.trim(), decimals);
}

const textOrNull = (text: string): string | null => (text.trim() === '' ? null : text.trim());

/** The lines of a text, without those at its beginning and end that are empty. */
function linesOf(text: string): readonly string[] {
  return text.trim() === ''
    ? []
    : text
        .trim()
        .split(/\r\n|[\r\n]/)
        .map((line) => line.trim());
}
