import { CompiledQuery } from 'kysely';
import type { Arrow } from '../domain/transition.ts';
import type { EventType } from '../domain/event-type.ts';
import type { Payment, Quote, Surface } from '../domain/payment.ts';
import type { PaymentStatus } from '../domain/status.ts';
import type { Mode } from '../domain/permission.ts';
import { isoTime } from '../wire/time.ts';
import {
  ANSWER_COLUMNS,
  CHANGING_PAYMENT_COLUMNS,
  DAY_COUNT_COLUMNS,
  EVENT_COLUMNS,
  insertRecords,
  PAYMENT_ADDRESS_COLUMNS,
  PAYMENT_COLUMNS,
  type RecordOf,
} from './columns.ts';
import type { Trx } from './database.ts';
import { paymentPayloads } from './notifications.ts';
import { iso, PAYMENT_RECORD, rowFromPayment } from './payment-rows.ts';
import type { Statement, StatementRunner } from './pipeline.ts';

/** An event ready to be stored: `body` holds the very bytes that are sent. */
export interface NewEvent {
  readonly id: string;
  readonly projectId: string;
  readonly mode: Mode;
  readonly paymentId: string | null;
  readonly type: EventType;
  readonly body: string;
  readonly createdAt: number;
  /** The request that it goes back to. */
  readonly requestId: string | null;
}

/** An address handed out for a payment, with the quote it was handed out for. */
export interface IssuedAddress {
  readonly paymentId: string;
  readonly quote: Quote;
  /** The address in the form in which the chain's transfers carry it. */
  readonly watchedAddress: string;
  readonly walletId: string;
  readonly index: number;
  /** How deep a transfer to it must be. */
  readonly confirmations: number;
  readonly issuedAt: number;
  readonly watchUntil: number;
}

/** A stored answer: the same request with the same key within 24 hours gets it again. */
export interface IdempotentAnswer {
  readonly projectId: string;
  readonly mode: Mode;
  readonly route: string;
  readonly key: string;
  readonly bodyHash: Buffer;
  readonly response: string;
  readonly createdAt: number;
}

/** One payment, new (`before` null) or changed, with everything that must be saved together with it. */
export interface PaymentChange {
  readonly before: Payment | null;
  readonly after: Payment;
  readonly dueAt: number | null;
  readonly arrows: readonly Arrow[];
  readonly events: readonly NewEvent[];
  readonly address?: IssuedAddress | undefined;
}

/** Rows of the day counters are spread over this many shards; each kind of writer uses its own. */
export type CountShard = 0 | 1 | 2;

interface CountDelta {
  project_id: string;
  mode: Mode;
  surface: Surface;
  day: string;
  status: PaymentStatus;
  shard: CountShard;
  payments: number;
  usd_cents: bigint;
}

/** What the changes add to and take from the day counters, in the order in which every writer locks their rows. */
function countDeltas(changes: readonly PaymentChange[], shard: CountShard): readonly RecordOf<'payment_day_counts'>[] {
  const deltas = new Map<string, CountDelta>();
  const add = (payment: Payment, count: 1 | -1): void => {
    const day = isoTime(payment.createdAt).slice(0, 10);
    const key = `${payment.projectId} ${payment.mode} ${payment.surface} ${day} ${payment.status}`;
    const delta = deltas.get(key) ?? {
      project_id: payment.projectId,
      mode: payment.mode,
      surface: payment.surface,
      day,
      status: payment.status,
      shard,
      payments: 0,
      usd_cents: 0n,
    };
    delta.payments += count;
    delta.usd_cents += BigInt(count) * payment.amountUsdCents;
    deltas.set(key, delta);
  };
  for (const { before, after } of changes) {
    if (before?.status === after.status) continue;
    if (before !== null) add(before, -1);
    add(after, 1);
  }
  return [...deltas.entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, delta]) => ({ ...delta, usd_cents: String(delta.usd_cents) }));
}

/** An address that is handed out is not spent from. */
const ISSUED_COLUMNS = PAYMENT_ADDRESS_COLUMNS.filter((column) => column !== 'spent_units');
const SET_CHANGING = CHANGING_PAYMENT_COLUMNS.map((column) => `${column} = n.${column}`).join(', ');

/** The same text every time, so that it is compiled once here and prepared once by the server. */
const SAVE = `
  with new_payments as (
    ${insertRecords('payments', PAYMENT_COLUMNS, '$1', PAYMENT_RECORD)}
  ), changed_payments as (
    update payments set ${SET_CHANGING}
    from json_populate_recordset(${PAYMENT_RECORD}, $2::json) n where payments.id = n.id
  ), new_arrows as (
    insert into payment_arrows (payment_id, from_status, to_status, cause, at)
    select payment_id, from_status, to_status, cause, at from json_populate_recordset(null::payment_arrows, $3::json)
  ), new_addresses as (
    ${insertRecords('payment_addresses', ISSUED_COLUMNS, '$4')}
  ), new_answers as (
    ${insertRecords('idempotency_keys', ANSWER_COLUMNS, '$5')}
  ), counted as (
    ${insertRecords('payment_day_counts', DAY_COUNT_COLUMNS, '$6')}
    on conflict (project_id, mode, surface, day, status, shard) do update
    set payments = payment_day_counts.payments + excluded.payments,
        usd_cents = payment_day_counts.usd_cents + excluded.usd_cents
  ), new_events as materialized (
    ${insertRecords('events', EVENT_COLUMNS, '$7')}
    returning id, project_id, mode, type, created_at
  ), new_deliveries as (
    insert into deliveries (event_id, endpoint_id, state, next_attempt_at, created_at)
    select e.id, w.id, 'waiting', e.created_at, e.created_at
    from new_events e
    join webhook_endpoints w on w.project_id = e.project_id and w.mode = e.mode and e.type = any (w.events)
    where w.deleted_at is null and w.disabled_at is null
    returning 1
  ), told as (
    select pg_notify('cointill', 'deliveries') from (select 1 from new_deliveries limit 1) as first
    union all
    select pg_notify('cointill', payload) from unnest($8::text[]) as payload
  )
  select count(*) from told`;

/**
 * Saves new and changed payments with their arrows, events, deliveries, counters, addresses and idempotent answers in one
 * statement, so that all of it is there after a crash or none. Deliveries are fanned out here: one for each event and
 * endpoint that asked for its type, and every process is told which payments changed. Changed payments must be locked by
 * the caller.
 */
export async function saveChanges(
  runner: StatementRunner,
  changes: readonly PaymentChange[],
  shard: CountShard,
  answers: readonly IdempotentAnswer[] = [],
): Promise<void> {
  await runner.executeQuery(saveStatement(changes, shard, answers));
}

/** The statement that saves them, for whoever sends it along with others. */
export function saveStatement(
  changes: readonly PaymentChange[],
  shard: CountShard,
  answers: readonly IdempotentAnswer[] = [],
): Statement {
  const created = changes.filter((change) => change.before === null);
  const changed = changes.filter((change) => change.before !== null);
  const payments = (part: readonly PaymentChange[]): string =>
    JSON.stringify(part.map((change) => rowFromPayment(change.after, change.dueAt)));
  const parameters = [
    payments(created),
    payments(changed),
    arrowRows(changes),
    addressRows(changes),
    answerRows(answers),
    JSON.stringify(countDeltas(changes, shard)),
    eventRows(changes),
    paymentPayloads(changed.map((change) => change.after.id)),
  ];
  return CompiledQuery.raw(SAVE, parameters);
}

/** Stores an event without sending it to anybody. */
export async function saveEvent(trx: Trx, event: NewEvent): Promise<void> {
  await trx
    .insertInto('events')
    .values({
      id: event.id,
      project_id: event.projectId,
      mode: event.mode,
      payment_id: event.paymentId,
      type: event.type,
      body: event.body,
      created_at: new Date(event.createdAt),
    })
    .execute();
}

function eventRows(changes: readonly PaymentChange[]): string {
  return JSON.stringify(
    changes.flatMap(({ events }) =>
      events.map((event): RecordOf<'events'> => ({
        id: event.id,
        project_id: event.projectId,
        mode: event.mode,
        payment_id: event.paymentId ?? undefined,
        type: event.type,
        body: event.body,
        created_at: iso(event.createdAt),
        request_id: event.requestId ?? undefined,
      })),
    ),
  );
}

function arrowRows(changes: readonly PaymentChange[]): string {
  return JSON.stringify(
    changes.flatMap(({ after, arrows }) =>
      arrows.map(({ from, to, cause, at }): RecordOf<'payment_arrows', 'id'> => ({
        payment_id: after.id,
        from_status: from,
        to_status: to,
        cause,
        at: iso(at),
      })),
    ),
  );
}

function addressRows(changes: readonly PaymentChange[]): string {
  return JSON.stringify(
    changes.flatMap(({ address }): readonly RecordOf<'payment_addresses', 'spent_units'>[] =>
      address === undefined
        ? []
        : [
            {
              network: address.quote.network,
              address: address.watchedAddress,
              payment_id: address.paymentId,
              wallet_id: address.walletId,
              address_index: address.index,
              asset: address.quote.asset,
              decimals: address.quote.decimals,
              owed_units: String(address.quote.owedUnits),
              tolerance_units: String(address.quote.toleranceUnits),
              issued_at: iso(address.issuedAt),
              watch_until: iso(address.watchUntil),
              confirmations: address.confirmations,
            },
          ],
    ),
  );
}

function answerRows(answers: readonly IdempotentAnswer[]): string {
  return JSON.stringify(
    answers.map((answer): RecordOf<'idempotency_keys'> => ({
      project_id: answer.projectId,
      mode: answer.mode,
      route: answer.route,
      key: answer.key,
      body_hash: `\\x${answer.bodyHash.toString('hex')}`,
      response: answer.response,
      created_at: iso(answer.createdAt),
    })),
  );
}
