import type { Mode } from '../../domain/permission.ts';
import { findHits, type PaymentHit } from '../../store/payments/payment-hits.ts';
import type { PaymentKeyKind } from '../../store/payments/payment-keys.ts';
import type { App } from '../context.ts';
import { searchKeysOf } from './search-keys.ts';

/** What one text finds: payments of the mode that is shown, or those of the other mode where there are none. */
export interface Found {
  readonly mode: Mode;
  readonly hits: readonly PaymentHit[];
}

/** What has the form of an id is that, whatever else begins like it. */
const RANKS: readonly PaymentKeyKind[] = [
  'id',
  'number',
  'refund',
  'event',
  'transaction_hash',
  'address',
  'email',
  'order_id',
  'description',
];

/** Finds payments of a project by one text, whatever it is of them. At most `limit`. */
export async function search(
  app: App,
  { projectId, mode }: { readonly projectId: string; readonly mode: Mode },
  text: string,
  limit: number,
): Promise<Found> {
  const keys = (searchKeysOf(text) ?? []).toSorted((a, b) => RANKS.indexOf(a.kind) - RANKS.indexOf(b.kind));
  const hits = await findHits(app.db, { projectId, mode }, keys, limit);
  if (hits.length > 0) return { mode, hits };
  const other = mode === 'test' ? 'live' : 'test';
  const elsewhere = await findHits(app.db, { projectId, mode: other }, keys, limit);
  return elsewhere.length > 0 ? { mode: other, hits: elsewhere } : { mode, hits };
}
