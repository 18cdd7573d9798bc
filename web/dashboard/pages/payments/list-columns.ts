import type { TextKey } from '../../texts/parts.ts';

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
