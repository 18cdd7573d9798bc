/** What people see: no space, and nothing that is drawn as none, such as U+202E or the empty pattern of Braille. */
const VISIBLE = /[^\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether at least one character of the text can be seen. */
export function hasVisible(text: string): boolean {
  return VISIBLE.test(text);
}
