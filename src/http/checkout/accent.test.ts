import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accentCss } from './accent.ts';
import { accentColours, contrast, THEMES, toOklch } from '../../wire/accent.ts';

const PAGE_CSS = readFileSync(path.join(import.meta.dirname, '../../../web/tokens.css'), 'utf8');

const SCHEMES = ['light', 'dark'] as const;

/** The custom properties that a sheet sets for one scheme, `--name` to `#rrggbb`. */
function propertiesOf(sheet: string, scheme: (typeof SCHEMES)[number]): (name: string) => string {
  const [light, dark] = [...sheet.matchAll(/:root\s*\{([^}]*)\}/g)].map(([, body = '']) => body);
  const body = (scheme === 'light' ? light : dark) ?? '';
  return (name) => {
    const both = new RegExp(`--${name}:\\s*light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\)`).exec(sheet);
    const own = new RegExp(`--${name}:\\s*(#[0-9a-f]{6})\\b`).exec(body)?.[1];
    const value = both?.[scheme === 'light' ? 1 : 2] ?? own;
    if (value === undefined) throw new Error(`The ${scheme} scheme has no --${name}.`);
    return value;
  };
}

/** Every pair that is below what WCAG 2.2 AA asks for when a shop's colour is put into the pages' own sheet. */
function faults(hex: string): readonly string[] {
  const sheet = accentCss(hex);
  return SCHEMES.flatMap((scheme) => {
    const shop = propertiesOf(sheet, scheme);
    const page = propertiesOf(PAGE_CSS, scheme);
    const accent = shop('accent');
    const strong = shop('accent-strong');
    const tint = shop('accent-soft');
    const surfaces = [page('page'), page('card'), page('sunken'), tint];
    const pairs: readonly (readonly [name: string, one: string, other: string, ratio: number])[] = [
      ...surfaces.map((surface) => ['accent as text', accent, surface, 4.5] as const),
      ...surfaces.map((surface) => ['strong accent as text', strong, surface, 4.5] as const),
      ['text on a button', shop('on-accent'), accent, 4.5],
      ['text on a button under the pointer', shop('on-accent'), strong, 4.5],
      ['text on the tint', page('text'), tint, 7],
      ['soft text on the tint', page('soft'), tint, 4.5],
      ['progress on its track', accent, page('line'), 3],
      ['focus ring on amber', accent, page('amber'), 3],
    ];
    return pairs
      .filter(([, one, other, ratio]) => contrast(one, other) < ratio)
      .map(([name, one, other]) => `${hex}, ${scheme}: ${name}, ${one} and ${other}`);
  });
}

/** How far two hues are apart, in degrees. */
function hueDistance(one: number, other: number): number {
  const turn = Math.abs(one - other) % (2 * Math.PI);
  return (Math.min(turn, 2 * Math.PI - turn) * 180) / Math.PI;
}

/** A colour of the wheel, as six hex digits: hue in degrees, saturation and lightness 0 to 1. */
function hsl(hue: number, saturation: number, lightness: number): string {
  const amplitude = saturation * Math.min(lightness, 1 - lightness);
  return [0, 8, 4]
    .map((offset) => {
      const k = (offset + hue / 30) % 12;
      const channel = lightness - amplitude * Math.max(-1, Math.min(k - 3, 9 - k, 1));
      return Math.round(channel * 255)
        .toString(16)
        .padStart(2, '0');
    })
    .join('');
}

const anyColour = fc.integer({ min: 0, max: 0xff_ff_ff }).map((value) => value.toString(16).padStart(6, '0'));

const wheel = Array.from({ length: 360 }, (_, hue) => [0.2, 0.5, 0.8].map((light) => hsl(hue, 1, light))).flat();
const greys = Array.from({ length: 256 }, (_, grey) => grey.toString(16).padStart(2, '0').repeat(3));
const corners = ['ff0000', '00ff00', '0000ff', 'ffff00', '00ffff', 'ff00ff'];

describe("a shop's colour", () => {
  it('measures contrast as WCAG does', () => {
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 10);
    expect(contrast('#ffffff', '#777777')).toBeCloseTo(4.48, 2);
    expect(contrast('#ff0000', '#ff0000')).toBe(1);
  });

  it('leaves every text legible, on all hues, greys and corners of the cube', () => {
    expect([...wheel, ...greys, ...corners].flatMap(faults)).toEqual([]);
  });

  it('leaves every text legible, whatever it is', () => {
    fc.assert(
      fc.property(anyColour, (hex) => {
        expect(faults(hex)).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });

  it('keeps its hue wherever it keeps any colour', () => {
    fc.assert(
      fc.property(anyColour, fc.constantFrom(...THEMES), (hex, theme) => {
        const wanted = toOklch(`#${hex}`);
        fc.pre(wanted.chroma > 0.04);
        const { accent, accentStrong } = accentColours(hex, theme);
        for (const emitted of [accent, accentStrong].map(toOklch)) {
          // Rounding to 8 bits turns a colour that is nearly grey, or nearly black, by several degrees.
          const tolerance = emitted.chroma < 0.06 ? 12 : 6;
          expect(hueDistance(emitted.hue, wanted.hue)).toBeLessThan(tolerance);
        }
        expect(toOklch(accent).chroma).toBeGreaterThan(Math.min(wanted.chroma, 0.06) * 0.8);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is taken as it is where it is legible already', () => {
    const [light, dark] = THEMES;
    if (light === undefined || dark === undefined) throw new Error('There are two schemes.');
    expect(accentColours('0b6b5b', light).accent).toBe('#0b6b5b');
    expect(accentColours('7a1fa2', light).accent).toBe('#7a1fa2');
    expect(accentColours('5fd3b8', dark).accent).toBe('#5fd3b8');
    expect(accentColours('ffd400', dark).accent).toBe('#ffd400');
  });

  it('changes under the pointer', () => {
    const same = [...wheel, ...greys, ...corners].flatMap((hex) =>
      THEMES.map((theme) => accentColours(hex, theme))
        .filter(
          ({ accent, accentStrong }) => Math.abs(toOklch(accent).lightness - toOklch(accentStrong).lightness) < 0.07,
        )
        .map(({ accent, accentStrong }) => `${hex}: ${accent} and ${accentStrong}`),
    );
    expect(same).toEqual([]);
  });

  it('comes as a sheet of nothing but four colours for each scheme, the same for one colour, and not for print', () => {
    const declarations = '--accent:C;--accent-strong:C;--on-accent:C;--accent-soft:C';
    fc.assert(
      fc.property(anyColour, (hex) => {
        const sheet = accentCss(hex);
        expect(sheet.replaceAll(/#[0-9a-f]{6}/g, 'C')).toBe(
          `@media screen{:root{${declarations}}}\n` +
            `@media screen and (prefers-color-scheme:dark){:root{${declarations}}}\n`,
        );
        expect(accentCss(hex.toUpperCase())).toBe(sheet);
      }),
    );
  });
});
