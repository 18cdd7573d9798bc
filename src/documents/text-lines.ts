import bidiFactory from 'bidi-js';
import LineBreaker from 'linebreak';
import { printableLine } from '../domain/visible.ts';
import type { Face } from './fonts.ts';

/** The package exports the function itself, although its types say `default`. */
const BIDI = (bidiFactory as unknown as typeof bidiFactory.default)();
const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** Characters that take the font of the text before them: marks, spaces and punctuation. */
const FOLLOWS = /[\p{M}\p{Z}\p{P}]/u;
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
/** Spaces of a fixed width or without a break, which fonts draw as the space. */
const SPACES = /[\u00A0\u2000-\u200A\u202F\u205F]/g;

/** Text in one font and one direction. */
interface Run {
  readonly text: string;
  readonly face: Face;
  readonly level: number;
  readonly width: number;
}

/** A run with the distance of its left end from the left end of its line. */
export interface PlacedRun extends Run {
  readonly x: number;
}

/** Runs in the order in which they are read, which is the one of copied text, and the width of all. */
export interface Line {
  readonly runs: readonly PlacedRun[];
  readonly width: number;
}

export interface TextStyle {
  readonly size: number;
  /** In the order in which characters are looked up. */
  readonly faces: readonly Face[];
  /** Takes each character that no font has. */
  readonly missing: Set<string>;
}

/**
 * Breaks text into lines of at most `width` points, words that are longer also inside, and finds the place of
 * each run (Unicode Standard Annex 9). The direction is that of its first strong letter. Line ends,
 * controls and marks that would hide or reorder text become spaces.
 */
export function textLines(text: string, width: number, style: TextStyle): readonly Line[] {
  const clean = cleanText(text);
  const faces = facesOf(clean, style);
  const embedding = BIDI.getEmbeddingLevels(clean, 'auto');
  const shape: Shape = { text: clean, faces, levels: embedding.levels, style };
  return breakLines(shape, width).map(([from, to]) => lineOf(shape, from, to));
}

/** The text as it is printed, on one line. */
export function cleanText(text: string): string {
  return printableLine(text.normalize('NFC').replaceAll(SPACES, ' '), text.length * 3 + 1).replaceAll(/\s+/g, ' ');
}

interface Shape {
  readonly text: string;
  /** By UTF-16 code unit, like `levels`. */
  readonly faces: readonly Face[];
  readonly levels: Uint8Array;
  readonly style: TextStyle;
}

function facesOf(text: string, { faces, missing }: TextStyle): readonly Face[] {
  const [first] = faces;
  if (first === undefined) throw new Error('There are no fonts.');
  const found: Face[] = [];
  let last = first;
  for (const character of text) {
    if (!FOLLOWS.test(character) || !last.has(character)) {
      const face = faces.find((one) => one.has(character));
      if (face === undefined) missing.add(character);
      last = face ?? first;
    }
    for (const _ of character.split('')) found.push(last);
  }
  return found;
}

/** Lines as ranges of the text, without the spaces at their ends. */
function breakLines(shape: Shape, width: number): readonly (readonly [number, number])[] {
  const { text } = shape;
  const breaker = new LineBreaker(text);
  const lines: [number, number][] = [];
  let [from, to, used] = [0, 0, 0];
  const endLine = (next: number): void => {
    if (to > from) lines.push([from, from + text.slice(from, to).trimEnd().length]);
    [from, to, used] = [next, next, 0];
  };
  for (let next = breaker.nextBreak(); next !== null; next = breaker.nextBreak()) {
    const end = next.position;
    const visible = to + text.slice(to, end).trimEnd().length;
    const wanted = widthOf(shape, to, visible);
    if (used > 0 && used + wanted > width) endLine(to);
    if (wanted <= width) {
      used += visible === end ? wanted : widthOf(shape, to, end);
      to = end;
      continue;
    }
    for (const { segment } of GRAPHEMES.segment(text.slice(to, end))) {
      const one = widthOf(shape, to, to + segment.length);
      if (used > 0 && used + one > width) endLine(to);
      used += one;
      to += segment.length;
    }
  }
  endLine(text.length);
  return lines.length === 0 ? [[0, 0]] : lines;
}

function widthOf(shape: Shape, from: number, to: number): number {
  return runsOf(shape, from, to).reduce((sum, run) => sum + run.width, 0);
}

function lineOf(shape: Shape, from: number, to: number): Line {
  const runs = runsOf(shape, from, to);
  const places = new Map<Run, number>();
  let width = 0;
  for (const run of inVisualOrder(runs)) {
    places.set(run, width);
    width += run.width;
  }
  return { runs: runs.map((run) => ({ ...run, x: places.get(run) ?? 0 })), width };
}

/** The runs of a part of the text, in its own order. */
function runsOf({ text, faces, levels, style }: Shape, from: number, to: number): readonly Run[] {
  const runs: Run[] = [];
  for (let start = from, end = from + 1; start < to; end += 1) {
    const [face, level] = [faces[start], levels[start]];
    if (face === undefined || level === undefined) throw new RangeError(`There is no character ${start}.`);
    if (end < to && faces[end] === face && levels[end] === level) continue;
    const drawn = drawnText(text.slice(start, end), level);
    runs.push({ text: drawn, face, level, width: runWidth(face, drawn, level, style.size) });
    start = end;
  }
  return runs;
}

/**
 * The text that a font is given for a run. Fonts reverse letters of scripts that are written from right to left, and
 * nothing else; brackets are mirrored there.
 */
function drawnText(part: string, level: number): string {
  if (level % 2 === 0) return part;
  const own = Array.from(part, (character) => BIDI.getMirroredCharacter(character) ?? character);
  return RIGHT_TO_LEFT.test(part) ? own.join('') : own.toReversed().join('');
}

/** The words of text from left to right are shaped one by one, because many of them come again. */
function runWidth({ font }: Face, text: string, level: number, size: number): number {
  const parts = level % 2 === 0 ? (text.match(/[^ ]* |[^ ]+$/g) ?? []) : [text];
  return (parts.reduce((sum, part) => sum + font.layout(part).advanceWidth, 0) * size) / font.unitsPerEm;
}

/** Rule L2 of Annex 9: from the highest level to the lowest odd one, runs at that level or above are reversed. */
function inVisualOrder(runs: readonly Run[]): readonly Run[] {
  const ordered = [...runs];
  for (let level = Math.max(0, ...runs.map((run) => run.level)); level > 0; level -= 1) {
    for (let start = 0; start < ordered.length; start += 1) {
      let end = start;
      while ((ordered[end]?.level ?? -1) >= level) end += 1;
      if (end - start > 1) ordered.splice(start, end - start, ...ordered.slice(start, end).toReversed());
      start = Math.max(start, end);
    }
  }
  return ordered;
}
