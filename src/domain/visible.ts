/** Visible characters: no space, and none that is drawn as nothing, such as U+202E or the empty pattern of Braille. */
const VISIBLE = /[^\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether at least one character of the text can be seen. */
export function hasVisible(text: string): boolean {
  return VISIBLE.test(text);
}

/** Characters that begin a line, control a terminal or reorder what is beside them, such as U+202E. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu;

/** Somebody else's text on one line, without characters that hide, reorder or add to the text around it. */
export function printableLine(text: string, maxLength = 200): string {
  const line = text.replaceAll(UNPRINTABLE, ' ').trim();
  return line.length <= maxLength ? line : `${line.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
