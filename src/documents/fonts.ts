import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { create, type Font, type Glyph, type GlyphRun } from 'fontkit';

const FOLDER = path.join(import.meta.dirname, 'fonts');

/** The bytes of a font; `bold` is null if it has no bold cut. */
export interface FontFile {
  readonly name: string;
  readonly regular: Uint8Array;
  readonly bold: Uint8Array | null;
}

/** Fonts that come along, in the order in which characters are looked up; `scripts/make-fonts.ts` makes them. */
const BEFORE = ['european', 'arabic', 'math', 'numbers', 'symbols'] as const;
const LAST = 'east-asian';
const WITH_BOLD: ReadonlySet<string> = new Set(['european', 'arabic']);

/**
 * Reads all fonts, which takes 50 ms. Those in `folder` (TrueType and OpenType, in the order of their names) come
 * before the East Asian one, whose shapes of characters are those of China, so that an operator may prefer others.
 */
export function readFonts(folder: string | null): readonly FontFile[] {
  const files = folder === null ? [] : readdirSync(folder).filter((name) => /\.[ot]t[fc]$/i.test(name));
  const own = files
    .toSorted()
    .map((name) => ({ name, regular: readFileSync(path.join(folder ?? '', name)), bold: null }));
  return [...BEFORE.map(bundled), ...own, bundled(LAST)];
}

function bundled(name: string): FontFile {
  const read = (file: string): Uint8Array => brotliDecompressSync(readFileSync(path.join(FOLDER, `${file}.ttf.br`)));
  return { name, regular: read(name), bold: WITH_BOLD.has(name) ? read(`${name}-bold`) : null };
}

/** One cut of a font in one document. */
export interface Face {
  readonly name: string;
  readonly font: Font;
  /** Whether the bold cut is made of the regular one, with thicker lines. */
  readonly isThickened: boolean;
  readonly has: (character: string) => boolean;
}

/** The faces of a document, in the order in which characters are looked up. */
export interface Faces {
  readonly regular: readonly Face[];
  readonly bold: readonly Face[];
}

/**
 * Opens fonts for one document: a font remembers which characters its glyphs stood for, so that a shared one would
 * give a document other bytes after another document.
 */
export function openFonts(files: readonly FontFile[]): Faces {
  const cuts = files.map(({ name, regular, bold }) => {
    const face = openFace(name, regular);
    return { regular: face, bold: bold === null ? { ...face, isThickened: true } : openFace(`${name}-bold`, bold) };
  });
  return { regular: cuts.map(({ regular }) => regular), bold: cuts.map(({ bold }) => bold) };
}

function openFace(name: string, bytes: Uint8Array): Face {
  const opened = create(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const font = 'fonts' in opened ? opened.fonts[0] : opened;
  if (font === undefined) throw new Error(`The font ${name} is an empty collection.`);
  rememberRuns(font);
  const known = new Map<string, boolean>();
  const has = (character: string): boolean => {
    const found = known.get(character) ?? font.hasGlyphForCodePoint(character.codePointAt(0) ?? 0);
    known.set(character, found);
    return found;
  };
  return { name, font, isThickened: false, has };
}

/** Lets a font shape each text once, because texts are measured before they are drawn. */
function rememberRuns(font: Font): void {
  const shape = font.layout.bind(font);
  const runs = new Map<string, GlyphRun>();
  const turned = new Set<number>();
  font.layout = (text) => {
    const run = runs.get(text) ?? shape(text);
    runs.set(text, run);
    if (run.direction === 'rtl') run.glyphs.forEach((glyph) => turnLigature(glyph, turned));
    // The positions are scaled in place by whoever gets them.
    return { ...run, advanceWidth: run.advanceWidth, positions: run.positions.map((position) => ({ ...position })) };
  };
}

/**
 * Turns the characters of a ligature around: readers of PDF take text from right to left letter by letter as it is
 * seen, and then turn all of it.
 */
function turnLigature(glyph: Glyph, turned: Set<number>): void {
  if (glyph.codePoints.length < 2 || turned.has(glyph.id)) return;
  turned.add(glyph.id);
  glyph.codePoints.reverse();
}
