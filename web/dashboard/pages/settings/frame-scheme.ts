export type Scheme = 'light' | 'dark';

/** Each rule's condition as it was written. */
const written = new WeakMap<CSSMediaRule, string>();
const CONDITION = /\(prefers-color-scheme:\s*(light|dark)\)/;

/** Shows a document in a scheme, whatever the device prefers: its conditions on the scheme become true or false. */
export function showScheme(shown: Document, scheme: Scheme): void {
  shown.documentElement.style.colorScheme = scheme;
  for (const sheet of shown.styleSheets) {
    for (const rule of sheet.cssRules) {
      // Rules of a frame are made by the frame's own constructors.
      if (rule.type !== CSSRule.MEDIA_RULE) continue;
      const media = rule as CSSMediaRule;
      const text = written.get(media) ?? media.media.mediaText;
      const wanted = CONDITION.exec(text)?.[1];
      if (wanted === undefined) continue;
      written.set(media, text);
      media.media.mediaText = wanted === scheme ? restOf(text) : 'not all';
    }
  }
}

/** `screen and (prefers-color-scheme: dark)` without what is decided. */
function restOf(text: string): string {
  return text.replace(new RegExp(`\\s*(?:and\\s*)?${CONDITION.source}`), '').trim() || 'all';
}
