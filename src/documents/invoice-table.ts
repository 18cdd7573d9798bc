import type { InvoiceDocument } from '../domain/invoice-document.ts';
import { CONTENT_HEIGHT, CONTENT_WIDTH, INK, lineHeight, type Block, type Column, type Sheet } from './sheet.ts';
import type { Words } from './words.ts';

/** Description, quantity, unit price, VAT and amount. */
const COLUMNS = columnsOf([225, 55, 80, 45, 90]);
const GAP = 8;
const PADDING = 3;
const CELL = { size: 9 } as const;
const HEAD = { size: 8.5, isBold: true } as const;

function columnsOf(widths: readonly number[]): readonly Column[] {
  let end = 0;
  return widths.map((width) => {
    end += width;
    return { start: end - width, width };
  });
}

/** Draws the table of items over as many pages as they need, each with the names of the columns. */
export function drawItems(sheet: Sheet, invoice: InvoiceDocument, amounts: readonly bigint[], words: Words): void {
  const { t, number, quantity, percent } = words;
  const names = [t('description'), t('quantity'), t('unit_price'), t('vat_rate'), t('amount')];
  const head = cellsOf(sheet, names, HEAD);
  drawHead(sheet, head);
  for (const [place, item] of invoice.items.entries()) {
    const numbers = [quantity(item.quantity), number(item.unitMinor), percent(item.rate), number(amounts[place] ?? 0n)];
    drawRow(sheet, cellsOf(sheet, [item.description, ...numbers], CELL), head);
  }
}

/** Numbers are flush with the end of their column. */
function cellsOf(sheet: Sheet, texts: readonly string[], look: Block['look']): readonly Block[] {
  return texts.map((text, place) => {
    const width = (COLUMNS[place]?.width ?? 0) - (place === 0 ? GAP : 2);
    return sheet.block(text, width, place === 0 ? look : { ...look, side: 'end' });
  });
}

function drawHead(sheet: Sheet, cells: readonly Block[]): void {
  const height = heightOf(cells) + 2 * PADDING;
  if (!sheet.fits(height + 60)) sheet.newPage();
  for (const [place, column] of COLUMNS.entries()) {
    const cell = cells[place];
    if (cell !== undefined) sheet.draw(cell, column, sheet.top() + PADDING);
  }
  sheet.moveTo(sheet.top() + height);
  sheet.rule({ start: 0, width: CONTENT_WIDTH }, sheet.top(), INK.text);
}

/** A row goes to the next page as a whole, unless it is longer than a third of a page. */
function drawRow(sheet: Sheet, cells: readonly Block[], head: readonly Block[]): void {
  const each = lineHeight(CELL);
  const height = heightOf(cells) + 2 * PADDING;
  const nextPage = (): void => {
    sheet.newPage();
    drawHead(sheet, head);
    sheet.moveTo(sheet.top() + PADDING);
  };
  sheet.moveTo(sheet.top() + PADDING);
  if (height < CONTENT_HEIGHT / 3 && !sheet.fits(height - PADDING)) nextPage();
  for (let line = 0; line * each < heightOf(cells); line += 1) {
    if (!sheet.fits(each)) nextPage();
    for (const [place, column] of COLUMNS.entries()) {
      const cell = cells[place];
      const drawn = cell?.lines[line];
      if (cell !== undefined && drawn !== undefined) sheet.drawLine(drawn, cell.look, column, sheet.top());
    }
    sheet.moveTo(sheet.top() + each);
  }
  sheet.moveTo(sheet.top() + PADDING);
  sheet.rule({ start: 0, width: CONTENT_WIDTH }, sheet.top());
}

function heightOf(cells: readonly Block[]): number {
  return Math.max(...cells.map(({ height }) => height));
}
