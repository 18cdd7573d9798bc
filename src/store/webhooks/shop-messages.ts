import { CompiledQuery, sql } from 'kysely';
import { MONEY_MESSAGES, OVERTAKEN_AFTER, type MessageType, type WebhookFormat } from '../../domain/shop-message.ts';
import type { Trx } from '../database.ts';
import type { Statement } from '../pipeline.ts';
import type { Stored } from '../rows.ts';
import { EVENTS } from '../schema/webhooks.ts';
import { LONGEST_LEASE_MS } from './message-queue.ts';

/** A message about an invoice, ready to be stored. */
export type NewMessage = Stored<'events'> & { readonly type: MessageType; readonly paymentId: string };

const SHOPS: WebhookFormat = 'greenfield';
/** Whether an endpoint `w` gets messages at present. */
const TAKES = `w.format = '${SHOPS}' and w.deleted_at is null and w.disabled_at is null`;
const LONGEST_LEASE = `interval '${LONGEST_LEASE_MS} milliseconds'`;

const NAMES = EVENTS.names.join(', ');

/**
 * Saves the messages of projects that have an endpoint for them, in order, each with a delivery to every endpoint that
 * asked for its type. The first one of an endpoint and payment is due at once, unless an earlier one is unfinished. A
 * head that has failed often is attempted once more now, because a newer message waits for it.
 */
const SAVE = `
  with given as materialized (
    select ${NAMES}, ordinality as place from json_populate_recordset(null::events, $1::json) with ordinality as g
  ), wanted as materialized (
    select g.* from given g where exists (
      select from webhook_endpoints w where w.project_id = g.project_id and w.mode = g.mode and ${TAKES})
  ), new_events as (
    insert into events (${NAMES}) select ${NAMES} from wanted order by place
  ), placed as materialized (
    select g.id, g.payment_id, g.created_at, g.place, w.id as endpoint_id,
      exists (select from message_queue q where q.endpoint_id = w.id and q.payment_id = g.payment_id) as is_behind,
      row_number() over (partition by w.id, g.payment_id order by g.place) as nth
    from wanted g join webhook_endpoints w
      on w.project_id = g.project_id and w.mode = g.mode and g.type = any (w.events) and ${TAKES}
  ), new_deliveries as materialized (
    insert into deliveries (event_id, endpoint_id, state, next_attempt_at, created_at)
    select id, endpoint_id, 'waiting', case when nth = 1 and not is_behind then least(created_at, clock_timestamp()) end,
      created_at
    from placed order by place
    returning id, event_id, endpoint_id
  ), queued as (
    insert into message_queue (endpoint_id, payment_id, delivery_id)
    select d.endpoint_id, p.payment_id, d.id
    from new_deliveries d join placed p on p.id = d.event_id and p.endpoint_id = d.endpoint_id
  ), heads as materialized (
    select min(q.delivery_id) as id, max(p.created_at) as at, max(p.created_at) + ${LONGEST_LEASE} as later
    from placed p join message_queue q on q.endpoint_id = p.endpoint_id and q.payment_id = p.payment_id
    where p.nth = 1 group by p.endpoint_id, p.payment_id
  ), hurried as (
    update deliveries d set next_attempt_at = least(h.at, clock_timestamp())
    from heads h
    where d.id = h.id and d.state = 'waiting' and d.attempts >= ${OVERTAKEN_AFTER} and d.next_attempt_at > h.later
    returning d.id
  )
  select exists (select from placed where nth = 1 and not is_behind) or exists (select from hurried) as "hasDeliveries"`;

/** The statement that saves messages, to be sent together with others: `savedDeliveries` reads its answer. */
export function messagesStatement(messages: readonly NewMessage[]): Statement {
  return CompiledQuery.raw(SAVE, [EVENTS.records(messages.map((event) => ({ event })))]);
}

/** The bodies of earlier messages about an invoice. */
export interface ToldBodies {
  readonly paymentId: string;
  readonly bodies: readonly string[];
}

/** The payments whose projects have an endpoint for messages, with the messages that told of their money. */
export async function toldOf(trx: Trx, paymentIds: readonly string[]): Promise<readonly ToldBodies[]> {
  const { rows } = await sql<ToldBodies>`
    select p.id as "paymentId", array(
      select e.body from events e where e.payment_id = p.id and e.type = any (${[...MONEY_MESSAGES]}::text[])
    ) as bodies
    from payments p where p.id = any (${paymentIds}::uuid[]) and exists (
      select from webhook_endpoints w where w.project_id = p.project_id and w.mode = p.mode and ${sql.raw(TAKES)})`.execute(
    trx,
  );
  return rows;
}
