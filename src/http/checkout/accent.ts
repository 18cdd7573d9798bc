import { accentColours, THEMES, type AccentColours } from '../../wire/accent.ts';

/**
 * The style sheet with a shop's colour: it overrides four custom properties for both schemes. `hex` is six hex digits.
 * The colour keeps its hue and as much of its lightness as legible text allows (4.5:1 wherever the pages use it), so
 * black and white become greys of the scheme. Only for screens: printed pages stay black.
 */
export function accentCss(hex: string): string {
  const [light, dark] = THEMES.map((theme) => properties(accentColours(hex, theme)));
  return `@media screen{:root{${light}}}\n@media screen and (prefers-color-scheme:dark){:root{${dark}}}\n`;
}

function properties({ accent, accentStrong, onAccent, accentSoft }: AccentColours): string {
  return `--accent:${accent};--accent-strong:${accentStrong};--on-accent:${onAccent};--accent-soft:${accentSoft}`;
}
