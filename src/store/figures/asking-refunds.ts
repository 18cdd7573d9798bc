import { sql } from 'kysely';
import type { AssetCode } from '../../domain/asset-code.ts';
import type { AttentionKind } from '../../domain/attention.ts';
import { firstUuidOf } from '../../domain/id.ts';
import type { Fiat } from '../../domain/money.ts';
import type { Network } from '../../domain/networks.ts';
import type { PaymentApi } from '../../domain/payment.ts';
import type { Database } from '../database.ts';
import { TAKES_PAYMENTS } from '../refunds/refund-payouts.ts';
import { isNotDone, millisecondsOf } from './attention.ts';

/** A refund that somebody has to look at. */
export interface AskingRefund {
  readonly id: string;
  readonly paymentId: string;
  readonly api: PaymentApi;
  readonly asset: AssetCode;
  readonly network: Network;
  readonly decimals: number;
  readonly units: bigint;
  readonly amountMinor: bigint;
  readonly currency: Fiat;
  readonly createdAt: number;
  readonly dueAt: number | null;
  readonly occurrence: string;
}

/** The number of mined transactions that pay a refund `r`. */
const PAYOUTS = sql`(select count(*) from refund_payouts o where o.refund_id = r.id)`;

/** Conditions under which live refunds ask for attention; `occurrence` tells such events of one refund apart. */
const ASKING = {
  refund_to_sign: {
    condition: () => sql`r.status = 'pending' and r.watched_address is not null
      and not exists (select from refund_payouts o where o.refund_id = r.id)
      and not exists (select from waiting_payouts o where o.refund_id = r.id and o.dropped_at is null)`,
    occurrence: millisecondsOf(sql`r.created_at`),
  },
  refund_paid_twice: {
    // One pass over the payouts, because nearly all refunds have one.
    condition: (since: string) => sql`not ${TAKES_PAYMENTS} and r.id in (select o.refund_id from refund_payouts o
      where o.refund_id >= ${since}::uuid group by o.refund_id having count(*) > 1)`,
    occurrence: sql`${PAYOUTS}::text`,
  },
  refund_paid_anyway: {
    condition: () => sql`r.status = 'failed' and not ${TAKES_PAYMENTS} and ${PAYOUTS} = 1`,
    occurrence: sql`${PAYOUTS}::text`,
  },
} as const satisfies Partial<Record<AttentionKind, object>>;

/** Live refunds that nothing pays yet, or that were paid more than once or after they failed; newest first. */
export async function askingRefunds(
  db: Database,
  projectId: string,
  kind: keyof typeof ASKING,
  { limit, since }: { readonly limit: number; readonly since: number },
): Promise<readonly AskingRefund[]> {
  const { condition, occurrence } = ASKING[kind];
  const first = firstUuidOf(since);
  const { rows } = await sql<AskingRefund>`
    select * from (
      select r.id, r.payment_id as "paymentId", r.payment_surface as api, r.asset, r.network, r.decimals, r.units, r.amount_minor as "amountMinor", r.currency,
        r.created_at as "createdAt", r.due_at as "dueAt", ${kind} as kind, ${occurrence} as occurrence
      from refunds r
      where r.project_id = ${projectId} and r.mode = 'live' and r.id >= ${first}::uuid and ${condition(first)}
    ) f where ${isNotDone({ projectId, mode: 'live' })} order by id desc limit ${limit}`.execute(db);
  return rows;
}
