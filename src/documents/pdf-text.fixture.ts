import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';

/** In points, less the overhang of letters. */
const MARGIN = 48;
const FOOTER = 20;

export interface ReadPdf {
  /** The texts of each page in the order of its content, without spaces, which are places in a PDF. */
  readonly pages: readonly string[];
  /** Texts that are not wholly within the margins of their page. */
  readonly outside: readonly string[];
  readonly info: Readonly<Record<string, unknown>>;
}

/** Reads a PDF by another library than the one that wrote it. */
export async function readPdf(pdf: Uint8Array): Promise<ReadPdf> {
  const task = getDocument({ data: new Uint8Array(pdf), verbosity: 0 });
  const document = await task.promise;
  const pages: string[] = [];
  const outside: string[] = [];
  for (let number = 1; number <= document.numPages; number += 1) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    const [, , width = 0, height = 0] = page.view;
    const texts = items.flatMap((item) => ('str' in item && item.str.trim() !== '' ? [item] : []));
    for (const { str, transform, width: wide } of texts) {
      const [x = 0, y = 0]: readonly number[] = transform.slice(4);
      const isInside = x >= MARGIN && x + wide <= width - MARGIN && y >= FOOTER && y <= height - MARGIN;
      if (!isInside) outside.push(str);
    }
    pages.push(withoutSpaces(items.map((item) => ('str' in item ? item.str : '')).join('')));
  }
  const { info } = await document.getMetadata();
  await task.destroy();
  return { pages, outside, info: { ...info } };
}

export function withoutSpaces(text: string): string {
  return text.replaceAll(/\s+/g, '');
}
