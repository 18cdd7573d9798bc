import PDF from 'pdfkit';
import { encode } from 'uqr';
import type { Faces } from './fonts.ts';
import { textLines, type Line, type PlacedRun, type TextStyle } from './text-lines.ts';

/** A4 in points of 1/72 inch, and the margins on all sides. */
const [WIDTH, HEIGHT] = [595.28, 841.89];
const MARGIN = 50;
/** The room of the footer, within the margin. */
const FOOTER = 32;
/** The width and the lower end of a page's content. */
export const CONTENT_WIDTH = WIDTH - 2 * MARGIN;
const BOTTOM = HEIGHT - MARGIN - 10;
export const CONTENT_HEIGHT = BOTTOM - MARGIN;
/** Heights in font sizes: of a line, and of its baseline below its top. */
const [LINE, BASELINE] = [1.4, 1.05];

export const INK = { text: '#1a1a1a', quiet: '#666666', rule: '#cccccc', link: '#0b57d0' } as const;

/** A column of the page: its distance from the side where lines of the language begin, and its width. */
export interface Column {
  readonly start: number;
  readonly width: number;
}

export interface TextLook {
  readonly size: number;
  readonly isBold?: true;
  readonly color?: string;
  /** The side of the column that lines are flush with, as the language reads; the start unless it is said. */
  readonly side?: 'end';
}

/** Lines with their look, as tall as `height`. */
export interface Block {
  readonly lines: readonly Line[];
  readonly look: TextLook;
  readonly height: number;
}

/** Metadata and direction of a document. */
export interface SheetFacts {
  readonly title: string;
  readonly author: string;
  readonly language: string;
  readonly isRightToLeft: boolean;
  readonly createdAt: number;
}

export type Sheet = ReturnType<typeof createSheet>;

/** Pages that texts are put on from above, mirrored for languages that are read from right to left. */
export function createSheet(faces: Faces, facts: SheetFacts) {
  const doc = openPdf(facts);
  const missing = new Set<string>();
  let y = MARGIN;

  const leftOf = ({ start, width }: Column): number =>
    MARGIN + (facts.isRightToLeft ? CONTENT_WIDTH - start - width : start);

  const drawLine = (line: Line, look: TextLook, column: Column, top: number): void => {
    const isRight = (look.side === 'end') !== facts.isRightToLeft;
    const left = leftOf(column) + (isRight ? column.width - line.width : 0);
    for (const run of line.runs) drawRun(doc, run, look, left + run.x, top + BASELINE * look.size);
  };

  return {
    doc,
    /** The characters that no font has. */
    missing,
    leftOf,
    drawLine,
    block: (text: string, width: number, look: TextLook): Block => {
      const style: TextStyle = { size: look.size, faces: look.isBold ? faces.bold : faces.regular, missing };
      const lines = textLines(text, width, style);
      return { lines, look, height: lines.length * lineHeight(look) };
    },
    top: () => y,
    moveTo: (to: number): void => {
      y = to;
    },
    /** Whether so much fits on the page, below what is there. */
    fits: (height: number): boolean => y + height <= BOTTOM,
    newPage: (): void => {
      doc.addPage();
      y = MARGIN;
    },
    /** Draws a block at a height, on one page. */
    draw: ({ lines, look }: Block, column: Column, top: number): void => {
      for (const [place, line] of lines.entries()) drawLine(line, look, column, top + place * lineHeight(look));
    },
    rule: (column: Column, at: number, color: string = INK.rule): void => {
      const left = leftOf(column);
      doc.lineWidth(0.7).strokeColor(color);
      doc.moveTo(left, at);
      doc.lineTo(left + column.width, at).stroke();
    },
    code: (content: string, column: Column, top: number): void =>
      drawCode(doc, content, leftOf(column), top, column.width),
  };
}

function openPdf({ title, author, language, createdAt }: SheetFacts): PDFKit.PDFDocument {
  return new PDF({
    size: 'A4',
    margin: 0,
    pdfVersion: '1.7',
    lang: language,
    displayTitle: true,
    bufferPages: true,
    // No standard font is loaded.
    font: '',
    info: {
      Title: title,
      Author: author,
      CreationDate: new Date(createdAt),
      Creator: 'Cointill',
      Producer: 'Cointill',
    },
  });
}

/** Draws a line at the foot of every page, which are all there by then. */
export function drawFoot(sheet: Sheet, textsOf: (page: number, pages: number) => readonly [string, string]): void {
  const { doc, block, drawLine } = sheet;
  const look: TextLook = { size: 8, color: INK.quiet };
  const columns = [
    [{ start: 0, width: CONTENT_WIDTH - 120 }, look],
    [
      { start: CONTENT_WIDTH - 120, width: 120 },
      { ...look, side: 'end' },
    ],
  ] as const;
  const { count } = doc.bufferedPageRange();
  for (let page = 0; page < count; page += 1) {
    doc.switchToPage(page);
    for (const [place, text] of textsOf(page + 1, count).entries()) {
      const [column, own] = columns[place] ?? columns[0];
      const [line] = block(text, column.width, own).lines;
      if (line !== undefined) drawLine(line, own, column, HEIGHT - FOOTER);
    }
  }
}

/** Ends the document, and gives its bytes. */
export async function bytesOf({ doc }: Sheet): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  doc.end();
  for await (const part of doc) parts.push(part as Buffer);
  return new Uint8Array(Buffer.concat(parts));
}

export function lineHeight({ size }: TextLook): number {
  return size * LINE;
}

function drawRun(
  doc: PDFKit.PDFDocument,
  run: PlacedRun,
  { size, color, isBold }: TextLook,
  x: number,
  y: number,
): void {
  const { face, text, level } = run;
  const isThick = isBold === true && face.isThickened;
  // A font object is taken as it is, which the types do not tell.
  doc.font(face.font as unknown as string, face.name, size).fillColor(color ?? INK.text);
  if (isThick) doc.lineWidth(size / 40).strokeColor(color ?? INK.text);
  doc.text(text, x, y, {
    lineBreak: false,
    baseline: 'alphabetic',
    fill: true,
    stroke: isThick,
    // With a list of features, the text is shaped as a whole, as text from right to left needs.
    ...(level % 2 === 1 ? { features: [] } : {}),
  });
}

function drawCode(doc: PDFKit.PDFDocument, content: string, x: number, y: number, width: number): void {
  const { data, size } = encode(content, { ecc: 'M', border: 0 });
  const module = width / size;
  for (const [row, cells] of data.entries()) {
    for (const [cell, isDark] of cells.entries()) {
      // Modules overlap a little, or lines of light show between them.
      if (isDark) doc.rect(x + cell * module, y + row * module, module + 0.05, module + 0.05);
    }
  }
  doc.fill('#000000');
}
