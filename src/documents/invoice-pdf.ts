import { imageSize } from 'image-size';
import {
  totalsOf,
  type InvoiceDocument,
  type InvoicePaid,
  type InvoiceTotals,
  type Party,
} from '../domain/invoice-document.ts';
import { NETWORK_FACTS } from '../domain/networks.ts';
import { INVOICE_LIMITS } from '../domain/parse-invoice.ts';
import { printableLine } from '../domain/visible.ts';
import type { Faces } from './fonts.ts';
import { drawItems } from './invoice-table.ts';
import {
  bytesOf,
  CONTENT_WIDTH,
  createSheet,
  drawFoot,
  INK,
  lineHeight,
  type Column,
  type Sheet,
  type TextLook,
} from './sheet.ts';
import { cleanText } from './text-lines.ts';
import { wordsOf, type Words } from './words.ts';

/** Columns of the head: sender and recipient at the start, number and dates at the end. */
const ADDRESS: Column = { start: 0, width: 270 };
const FACT: Column = { start: 295, width: 95 };
const FACT_VALUE: Column = { start: 390, width: CONTENT_WIDTH - 390 };
/** Columns of the sums. */
const SUM: Column = { start: 195, width: 165 };
const SUM_VALUE: Column = { start: 360, width: CONTENT_WIDTH - 360 };
/** Columns of a receipt's payments: the day, the coins with their transaction, and what they count for. */
const PAID_ON: Column = { start: 0, width: 120 };
const COINS: Column = { start: 125, width: 240 };
const COINS_VALUE: Column = { start: 370, width: CONTENT_WIDTH - 370 };
const HASH: Column = { start: 125, width: CONTENT_WIDTH - 125 };
const WHOLE: Column = { start: 0, width: CONTENT_WIDTH };
const CODE: Column = { start: 0, width: 96 };
const BESIDE_CODE: Column = { start: 114, width: CONTENT_WIDTH - 114 };
/** The largest picture of a logo. */
const LOGO: readonly [number, number] = [160, 48];
/** A QR code of level M has room for 2,331 bytes; with this many characters it is still read from paper. */
const MAX_CODE = 500;

const TEXT = { size: 9.5 } as const;
const HEAD = { size: 11, isBold: true } as const;
const QUIET = { size: 8.5, color: INK.quiet } as const;

export interface InvoiceLooks {
  /** One of the languages of the payment page; English if it is another. */
  readonly language: string;
  /** PNG or JPEG. */
  readonly logo: Uint8Array | null;
  /** Whether it says that it is a test. */
  readonly isTest?: boolean;
}

/** The outcome of a rendering: a PDF, or the characters that no font has, of which a PDF would show boxes. */
export type RenderedDocument =
  | { readonly kind: 'rendered'; readonly pdf: Uint8Array; readonly pages: number }
  | { readonly kind: 'missing_characters'; readonly characters: readonly string[] };

/** Renders an invoice, or the receipt of a paid one, as PDF. The same invoice has the same bytes. */
export async function renderInvoice(
  invoice: InvoiceDocument,
  { language, logo, isTest = false }: InvoiceLooks,
  faces: Faces,
): Promise<RenderedDocument> {
  const words = wordsOf(language, invoice.currency);
  const heading = words.t(invoice.paid === null ? 'invoice' : 'receipt');
  const sheet = createSheet(faces, {
    title: `${heading} ${cleanText(invoice.number)}`,
    author: cleanText(invoice.seller.lines[0] ?? ''),
    language: words.code,
    isRightToLeft: words.isRightToLeft,
    createdAt: Date.parse(`${invoice.paid?.on ?? invoice.issuedOn}T00:00:00Z`),
  });
  const totals = totalsOf(invoice.items, invoice.pricesIncludeTax);
  if (isTest) {
    flow(sheet, words.t('test'), { size: 11, isBold: true });
    sheet.moveTo(sheet.top() + 8);
  }
  drawHead(sheet, invoice, heading, logo, words);
  drawItems(sheet, invoice, totals.amounts, words);
  drawSums(sheet, invoice, totals, words);
  if (invoice.paid === null) drawPayment(sheet, invoice, words);
  else drawPaid(sheet, invoice.paid, totals, words);
  for (const paragraph of invoice.note?.split(/\r\n|[\r\n]/) ?? []) flow(sheet, paragraph, TEXT);
  drawFoot(sheet, (page, pages) => [
    [invoice.number, invoice.seller.lines[0] ?? ''].map((text) => printableLine(text, 60)).join(' · '),
    words.t('page', { page, pages }),
  ]);
  const pages = sheet.doc.bufferedPageRange().count;
  const pdf = await bytesOf(sheet);
  if (sheet.missing.size > 0) return { kind: 'missing_characters', characters: [...sheet.missing] };
  return { kind: 'rendered', pdf, pages };
}

function drawHead(
  sheet: Sheet,
  invoice: InvoiceDocument,
  heading: string,
  logo: Uint8Array | null,
  words: Words,
): void {
  const { t, day } = words;
  const logoHeight = logo === null ? 0 : drawLogo(sheet, logo);
  const title = sheet.block(heading, FACT.width + FACT_VALUE.width, { size: 22, isBold: true, side: 'end' });
  sheet.draw(title, { start: FACT.start, width: FACT.width + FACT_VALUE.width }, sheet.top() - 6);
  const factsTop = sheet.top() + Math.max(logoHeight, title.height) + 14;

  if (logo !== null) sheet.moveTo(factsTop);
  drawParty(sheet, t('seller'), invoice.seller, words);
  if (invoice.buyer !== null) {
    sheet.moveTo(sheet.top() + 12);
    drawParty(sheet, t('bill_to'), invoice.buyer, words);
  }
  const partiesEnd = { page: sheet.doc.bufferedPageRange().count, y: sheet.top() };
  const facts = [
    [t('number'), printableLine(invoice.number, INVOICE_LIMITS.number)],
    [t('issued'), day(invoice.issuedOn)],
    ...(invoice.suppliedOn === null ? [] : [[t('supplied'), day(invoice.suppliedOn)] as const]),
    ...(invoice.paid === null ? [[t('due'), day(invoice.dueOn)] as const] : []),
  ] as const;
  sheet.doc.switchToPage(0);
  sheet.moveTo(factsTop);
  for (const [label, value] of facts) {
    const cells = [
      sheet.block(label, FACT.width - 8, QUIET),
      sheet.block(value, FACT_VALUE.width, { ...TEXT, side: 'end' }),
    ] as const;
    sheet.draw(cells[0], FACT, sheet.top() + 1);
    sheet.draw(cells[1], FACT_VALUE, sheet.top());
    sheet.moveTo(sheet.top() + Math.max(cells[0].height, cells[1].height) + 3);
  }
  sheet.doc.switchToPage(partiesEnd.page - 1);
  sheet.moveTo((partiesEnd.page > 1 ? partiesEnd.y : Math.max(partiesEnd.y, sheet.top())) + 22);
}

/** Draws the logo, and tells its height. The logo is never drawn larger than it is. */
function drawLogo(sheet: Sheet, logo: Uint8Array): number {
  const { width, height } = imageSize(logo);
  const scale = Math.min(LOGO[0] / width, LOGO[1] / height, 0.75);
  const column = { start: 0, width: width * scale };
  sheet.doc.image(Buffer.from(logo), sheet.leftOf(column), sheet.top(), { width: column.width });
  return height * scale;
}

function drawParty(sheet: Sheet, label: string, { lines, taxId }: Party, { t }: Words): void {
  flow(sheet, label, QUIET, ADDRESS);
  for (const [place, line] of lines.entries())
    flow(sheet, line, place === 0 ? { ...TEXT, isBold: true } : TEXT, ADDRESS);
  if (taxId !== null) flow(sheet, t('tax_id', { id: taxId }), TEXT, ADDRESS);
}

/** Puts text below what is there, over pages if it is long. */
function flow(sheet: Sheet, text: string, look: TextLook, column: Column = WHOLE, link?: string): void {
  for (const line of sheet.block(text, column.width, look).lines) {
    const height = lineHeight(look);
    if (!sheet.fits(height)) sheet.newPage();
    sheet.drawLine(line, look, column, sheet.top());
    if (link !== undefined) sheet.doc.link(sheet.leftOf(column), sheet.top(), column.width, height, link);
    sheet.moveTo(sheet.top() + height);
  }
}

function drawSums(sheet: Sheet, { pricesIncludeTax }: InvoiceDocument, totals: InvoiceTotals, words: Words): void {
  const { t, money, percent } = words;
  const rows = [
    [t('net'), money(totals.net), TEXT],
    ...totals.rates.map(
      ({ rate, net, vat }) => [t('vat_on', { rate: percent(rate), net: money(net) }), money(vat), TEXT] as const,
    ),
    [t('total'), money(totals.gross), { size: 12, isBold: true }],
  ] as const;
  sheet.moveTo(sheet.top() + 8);
  for (const [label, value, look] of rows) {
    const cells = [
      sheet.block(label, SUM.width, look),
      sheet.block(value, SUM_VALUE.width, { ...look, side: 'end' }),
    ] as const;
    const height = Math.max(cells[0].height, cells[1].height) + 4;
    const isTotal = look !== TEXT;
    // The total never stands alone on a page.
    if (!sheet.fits(isTotal ? height + 8 : 2 * height + 30)) sheet.newPage();
    if (isTotal) {
      sheet.rule({ start: SUM.start, width: SUM.width + SUM_VALUE.width }, sheet.top() + 2, INK.text);
      sheet.moveTo(sheet.top() + 7);
    }
    sheet.draw(cells[0], SUM, sheet.top());
    sheet.draw(cells[1], SUM_VALUE, sheet.top());
    sheet.moveTo(sheet.top() + height);
  }
  if (pricesIncludeTax) flow(sheet, t('prices_with_vat'), { ...QUIET, side: 'end' });
  sheet.moveTo(sheet.top() + 18);
}

/** How to pay. */
function drawPayment(sheet: Sheet, { paymentUrl }: InvoiceDocument, { t }: Words): void {
  if (!sheet.fits(CODE.width)) sheet.newPage();
  const hasCode = paymentUrl.length <= MAX_CODE;
  const column = hasCode ? BESIDE_CODE : WHOLE;
  const end = sheet.top() + (hasCode ? CODE.width : 0);
  if (hasCode) {
    sheet.code(paymentUrl, CODE, sheet.top());
    sheet.doc.link(sheet.leftOf(CODE), sheet.top(), CODE.width, CODE.width, paymentUrl);
  }
  flow(sheet, t('pay_here'), HEAD, column);
  flow(sheet, t('pay_hint'), QUIET, column);
  flow(sheet, paymentUrl, { ...TEXT, color: INK.link }, column, paymentUrl);
  sheet.moveTo(Math.max(sheet.top(), hasCode ? end : 0) + 16);
}

/** How it was paid. The payments come to the total, or to more by the sum that is named last. */
function drawPaid(sheet: Sheet, { on, payments, further }: InvoicePaid, { gross }: InvoiceTotals, words: Words): void {
  const { t, day, money } = words;
  if (!sheet.fits(70)) sheet.newPage();
  flow(sheet, t('paid_on', { date: day(on) }), HEAD);
  for (const { on: paidOn, amount, asset, network, minor, transactionHash } of payments) {
    const coins = `${amount} ${asset} (${NETWORK_FACTS[network].label})`;
    // A transaction is not on another page than its payment.
    drawPaidRow(sheet, [day(paidOn), coins, money(minor)], TEXT, 3 * lineHeight(QUIET));
    if (transactionHash !== null) flow(sheet, `${t('transaction')}: ${transactionHash}`, QUIET, HASH);
  }
  if (further.count > 0)
    drawPaidRow(sheet, ['', t('paid_further', { count: further.count }), money(further.minor)], TEXT);
  const sum = payments.reduce((total, { minor }) => total + minor, further.minor);
  if (sum > gross) {
    const look = { ...TEXT, isBold: true } as const;
    drawPaidRow(sheet, ['', t('paid_total'), money(sum)], look, lineHeight(look));
    drawPaidRow(sheet, ['', t('overpaid'), money(sum - gross)], look);
  }
  sheet.moveTo(sheet.top() + 16);
}

/** Draws a row on one page, with so much room below it. */
function drawPaidRow(
  sheet: Sheet,
  [on, coins, value]: readonly [string, string, string],
  look: TextLook,
  below = 0,
): void {
  const cells = [
    [sheet.block(on, PAID_ON.width, look), PAID_ON],
    [sheet.block(coins, COINS.width, look), COINS],
    [sheet.block(value, COINS_VALUE.width, { ...look, side: 'end' }), COINS_VALUE],
  ] as const;
  const height = Math.max(...cells.map(([block]) => block.height));
  sheet.moveTo(sheet.top() + 3);
  if (!sheet.fits(height + below)) sheet.newPage();
  for (const [block, column] of cells) sheet.draw(block, column, sheet.top());
  sheet.moveTo(sheet.top() + height);
}
