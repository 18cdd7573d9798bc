/** The fields of a line beside its message: ids, names, amounts as text, durations in milliseconds named `…_ms`. */
export type Fields = Readonly<Record<string, string | number | null | undefined>>;

export interface Line {
  readonly level: 'debug' | 'info' | 'warn';
  readonly fields: Fields;
  readonly message: string;
}

/** Without empty fields. */
export function withoutEmpty(fields: Fields): Readonly<Record<string, string | number>> {
  const present: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(fields)) if (value !== null && value !== undefined) present[name] = value;
  return present;
}
