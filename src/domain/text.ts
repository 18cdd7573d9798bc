/** A text of the program, or its plural forms by the value of `{count}`. `{name}` is a placeholder. */
export type Text = string | PluralForms;
/** Keyed by the names that `Intl.PluralRules` has for a language's forms, such as `one`, `few` and `other`. */
export type PluralForms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>>;
export type TextValues = Readonly<Record<string, string | number>>;

/** The language's own name, capitalised for the beginning of a line. */
export function languageName(code: string): string {
  const [first = '', ...rest] = new Intl.DisplayNames(code, { type: 'language' }).of(code) ?? code;
  return first.toLocaleUpperCase(code) + rest.join('');
}

/** Fills values into a text. A placeholder without a value stays, where tests notice it. */
export function fill(text: string, values: TextValues): string {
  return text.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => String(values[name] ?? placeholder));
}

/** The form of a text for a count; a text without forms itself. A check ensures that no form is missing. */
export function plural(text: Text, count: unknown, language: string): string {
  if (typeof text === 'string') return text;
  return text[new Intl.PluralRules(language).select(Number(count))] ?? '';
}
