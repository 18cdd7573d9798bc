import { sql } from 'kysely';
import type { Payment } from '../../domain/payment.ts';
import type { Database, Trx } from '../database.ts';
import { withinScope, type PaymentScopeKey } from './payment-filter.ts';
import { foundBy, type PaymentKey, type PaymentKeyKind } from './payment-keys.ts';
import { findPayments } from './payments.ts';

/** A payment, and by what it was found: the first of the keys that mean it. */
export interface PaymentHit {
  readonly by: PaymentKeyKind;
  readonly payment: Payment;
}

const ALL_TIMES = { createdFrom: null, createdBefore: null };

/** The payments of a scope that any of these keys means: in the order of the keys, then the newest first. */
export async function findHits(
  db: Database | Trx,
  scope: PaymentScopeKey,
  keys: readonly PaymentKey[],
  limit: number,
): Promise<readonly PaymentHit[]> {
  const within = sql.join(withinScope(scope, ALL_TIMES, null), sql` and `);
  const indexScans = keys.flatMap((key, rank) =>
    foundBy(key, { mode: scope.mode, within }).map(
      ({ source, condition }) => sql`(select id, ${rank}::integer as rank from ${source}
        where ${within} and ${condition} order by id desc limit ${limit})`,
    ),
  );
  if (indexScans.length === 0) return [];
  const { rows } = await sql<{ id: string; rank: number }>`
    select id, min(rank) as rank from (${sql.join(indexScans, sql` union all `)}) found
    group by id order by 2, id desc limit ${limit}`.execute(db);
  const payments = await findPayments(
    db,
    rows.map(({ id }) => id),
  );
  const byId = new Map(payments.map((payment) => [payment.id, payment]));
  return rows.flatMap(({ id, rank }) => {
    const [payment, key] = [byId.get(id), keys[rank]];
    return payment === undefined || key === undefined ? [] : [{ by: key.kind, payment }];
  });
}
