/** The colours of the pages' style sheet on which an accent appears, by scheme. */
interface Theme {
  readonly scheme: 'light' | 'dark';
  /** The surfaces on which the accent and the strong accent appear as text. */
  readonly surfaces: readonly string[];
  /** The track of a progress bar, which the accent fills. */
  readonly line: string;
  /** OKLCH lightness of the soft accent, and its maximum chroma: a tint rather than a colour. */
  readonly softLightness: number;
  readonly softChroma: number;
}

/** The properties page, card, sunken and line of `web/tokens.css`; the test compares them with the style sheet. */
export const THEMES: readonly Theme[] = [
  {
    scheme: 'light',
    surfaces: ['#f4f6f5', '#ffffff', '#f2f5f4'],
    line: '#dde4e1',
    softLightness: 0.95,
    softChroma: 0.03,
  },
  {
    scheme: 'dark',
    surfaces: ['#0e1412', '#17201d', '#1f2a26'],
    line: '#2c3a35',
    softLightness: 0.3,
    softChroma: 0.045,
  },
];

/** The four custom properties of the pages that a shop's colour replaces, each `#rrggbb`. */
export interface AccentColours {
  readonly accent: string;
  readonly accentStrong: string;
  readonly onAccent: string;
  readonly accentSoft: string;
}

/** WCAG 2.2, 1.4.3: text against its background. */
const TEXT_CONTRAST = 4.5;
/** WCAG 2.2, 1.4.11: parts of a control against each other. */
const PART_CONTRAST = 3;
/** The difference between the strong accent and the accent in OKLCH lightness: visible under the pointer. */
const STRONG_STEP = 0.09;
/** The same difference toward the surfaces, starting from black or white: near black, eyes distinguish less. */
const STEP_BACK = 0.2;
const WHITE = '#ffffff';

/** The shop's colour, adjusted to a scheme. */
export function accentColours(hex: string, theme: Theme): AccentColours {
  const chosen = toOklch(`#${hex}`);
  const accentSoft = toHex({
    ...chosen,
    lightness: theme.softLightness,
    chroma: Math.min(chosen.chroma, theme.softChroma),
  });
  const isLegible = (colour: string): boolean =>
    [...theme.surfaces, accentSoft].every((surface) => contrast(colour, surface) >= TEXT_CONTRAST) &&
    contrast(colour, theme.line) >= PART_CONTRAST;
  const accent = legible(chosen, theme.scheme, isLegible);
  // In the light scheme the accent is legible on white, so white is legible on it. In the dark scheme it is light.
  const onAccent =
    theme.scheme === 'light' ? WHITE : toHex({ ...chosen, lightness: 0.2, chroma: Math.min(chosen.chroma, 0.04) });
  return { accent, accentStrong: strongOf(toOklch(accent), chosen, theme.scheme, isLegible), onAccent, accentSoft };
}

/** The shop's colour, or the nearest legible one with its hue: darker in the light scheme, lighter in the dark one. */
function legible(wanted: Oklch, scheme: Theme['scheme'], isLegible: (colour: string) => boolean): string {
  const asIs = toHex(wanted);
  if (isLegible(asIs)) return asIs;
  let tooNear = wanted.lightness;
  let far = scheme === 'light' ? 0 : 1;
  // Each colour is tried as it is written, rounded to 8 bits, so that the emitted colour is the measured one.
  for (let step = 0; step < 10; step++) {
    const middle = (tooNear + far) / 2;
    if (isLegible(toHex({ ...wanted, lightness: middle }))) far = middle;
    else tooNear = middle;
  }
  return toHex({ ...wanted, lightness: far });
}

/** The strong accent: further from the surfaces than the accent, or closer to them if black or white leaves no room. */
function strongOf(
  accent: Oklch,
  wanted: Oklch,
  scheme: Theme['scheme'],
  isLegible: (colour: string) => boolean,
): string {
  const away = scheme === 'light' ? -1 : 1;
  const further = accent.lightness + away * STRONG_STEP;
  const lightness = further > 0.12 && further < 0.99 ? further : accent.lightness - away * STEP_BACK;
  return legible({ ...wanted, lightness }, scheme, isLegible);
}

/** WCAG 2.2's contrast ratio of two colours written `#rrggbb`: 1 to 21. */
export function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(colour: string): number {
  const [red, green, blue] = linearChannels(colour);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** A perceptual colour: lightness 0 to 1, chroma from 0 (grey), hue as an angle in radians. */
interface Oklch {
  readonly lightness: number;
  readonly chroma: number;
  readonly hue: number;
}

type Three = readonly [number, number, number];

/** From `#rrggbb`, by https://bottosson.github.io/posts/oklab/ (CSS Color 4, 9.3). */
export function toOklch(colour: string): Oklch {
  const [red, green, blue] = linearChannels(colour);
  const long = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const medium = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const short = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  const a = 1.9779984951 * long - 2.428592205 * medium + 0.4505937099 * short;
  const b = 0.0259040371 * long + 0.7827717662 * medium - 0.808675766 * short;
  return {
    lightness: 0.2104542553 * long + 0.793617785 * medium - 0.0040720468 * short,
    chroma: Math.hypot(a, b),
    hue: Math.atan2(b, a),
  };
}

/** A colour as `#rrggbb`; a colour that no screen can show loses chroma, and keeps its hue and lightness. */
function toHex(colour: Oklch): string {
  let shown = toLinear(colour);
  if (!isShown(shown)) {
    let less = 0;
    let more = colour.chroma;
    for (let step = 0; step < 10; step++) {
      const middle = (less + more) / 2;
      if (isShown(toLinear({ ...colour, chroma: middle }))) less = middle;
      else more = middle;
    }
    shown = toLinear({ ...colour, chroma: less });
  }
  return `#${shown.map((channel) => byteOf(channel).toString(16).padStart(2, '0')).join('')}`;
}

function toLinear({ lightness, chroma, hue }: Oklch): Three {
  const a = chroma * Math.cos(hue);
  const b = chroma * Math.sin(hue);
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
  ];
}

/** Whether a screen can show the colour, apart from rounding to 8 bits. */
function isShown(channels: Three): boolean {
  return channels.every((channel) => channel > -0.0001 && channel < 1.001);
}

function linearChannels(colour: string): Three {
  const value = Number.parseInt(colour.slice(1), 16);
  return [linear(value >> 16), linear((value >> 8) & 255), linear(value & 255)];
}

/** sRGB's transfer function (IEC 61966-2-1), from a byte. */
function linear(byte: number): number {
  const value = byte / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

function byteOf(channel: number): number {
  const value = channel <= 0.0031308 ? 12.92 * channel : 1.055 * channel ** (1 / 2.4) - 0.055;
  return Math.round(255 * Math.min(1, Math.max(0, value)));
}
