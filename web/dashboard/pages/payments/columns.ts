import type { TextKey } from '../../texts/parts.ts';

/** The amount links to the payment. */
const ALWAYS = 'amount';

const CHOICE = 'cointill.columns';

export function isListColumn(name: string): name is ListColumn {
  return Object.hasOwn(LIST_COLUMNS, name);
}

/** The columns in a text separated by commas, in the list's own order; null if it names none, or the default ones. */
export function columnsOf(text: unknown): readonly ListColumn[] | null {
  if (typeof text !== 'string') return null;
  const wanted = new Set(text.split(','));
  const named = Object.keys(LIST_COLUMNS).filter(isListColumn);
  const chosen = named.filter((name) => name === ALWAYS || wanted.has(name));
  return chosen.length === 1 && !wanted.has(ALWAYS) ? null : chosen;
}

/** The columns chosen on this device. */
export function chosenColumns(): readonly ListColumn[] {
  try {
    return columnsOf(localStorage.getItem(CHOICE)) ?? USUAL_LIST_COLUMNS;
  } catch {
    return USUAL_LIST_COLUMNS;
  }
}

/** Remembers the choice on this device. */
export function chooseColumns(columns: readonly ListColumn[]): void {
  try {
    localStorage.setItem(CHOICE, columns.join(','));
  } catch {
    // Without storage, the choice lasts as long as it is in the URL.
  }
}

/** The columns that the list can show, with their heads, in their order. */
export const LIST_COLUMNS = {
  amount: 'amount',
  status: 'status',
  order: 'order',
  customer: 'customer',
  paid_in: 'paid_in',
  created: 'created',
  description: 'description',
  received: 'column_received',
  number: 'number',
  id: 'id',
  api: 'column_api',
  completed: 'column_completed',
  expires: 'expires',
} as const satisfies Readonly<Record<string, TextKey>>;
export type ListColumn = keyof typeof LIST_COLUMNS;

export const USUAL_LIST_COLUMNS = ['amount', 'status', 'order', 'customer', 'paid_in', 'created'] as const;

/** The set with the value added if it was absent, or removed if it was present. */
export function toggled<Value>(set: ReadonlySet<Value>, value: Value): ReadonlySet<Value> {
  const changed = new Set(set);
  if (!changed.delete(value)) changed.add(value);
  return changed;
}
