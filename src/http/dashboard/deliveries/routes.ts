import { PAYMENT_ID_FORMS, parsePaymentId, publicPaymentId } from '../../../domain/payment-kind.ts';
import { rejected } from '../../../app/rejected.ts';
import { retryDelivery } from '../../../app/webhooks/deliveries.ts';
import { retryDeliveries, retryProgress, runningRetry, stopRetry } from '../../../app/webhooks/retry-deliveries.ts';
import { isStoredEventType } from '../../../domain/shop-message.ts';
import { deliveryId, encodeId, parseUuid } from '../../../domain/id.ts';
import { fiatDecimals, formatDecimal } from '../../../domain/money.ts';
import {
  findDeliveryDetails,
  searchDeliveries,
  type AttemptDetails,
  type DeliveryDetails,
  type DeliveryRow,
  type DeliverySearch,
  type EventPayment,
} from '../../../store/webhooks/delivery-list.ts';
import type { RetryProgress } from '../../../store/webhooks/delivery-retries.ts';
import { isoTime, isoTimeOrNull } from '../../../wire/time.ts';
import { invalid, RequestError } from '../../errors.ts';
import { done } from '../refusal-words.ts';
import { refusalError } from '../../page-sentences.ts';
import type { Dashboard, Routes } from '../route.ts';
import type { ProjectScope } from '../scope.ts';
import { endpointId } from '../webhooks/routes.ts';
import type {
  AttemptView,
  DeliveryFilters,
  DeliveryRowView,
  DeliveryView,
  EventPaymentView,
  RetryView,
} from './contract.ts';
import { keysetOf, listOf } from '../record-parts.ts';
import { readCreated } from '../../dates.ts';

const SCOPE = '/dashboard/api/projects/:project/:mode';
const DELIVERIES = `${SCOPE}/deliveries` as const;
const RETRIES = `${SCOPE}/delivery-retries` as const;
const MAX_ATTEMPTS = 20;

/** The deliveries of a project and mode to all endpoints, and sending them again. */
export function deliveryRoutes(routes: Routes, { people: { app: core, sealingKeys }, webhooks }: Dashboard): void {
  const READ = { action: 'read_developer' } as const;
  const MANAGE = { action: 'manage_webhooks' } as const;
  const viewOf = async (scope: ProjectScope, id: bigint): Promise<DeliveryView> => {
    const found = await findDeliveryDetails(core.db, scope, id, MAX_ATTEMPTS + 1);
    if (found === null) throw noDelivery();
    return deliveryView(found);
  };
  const isKept = async (scope: ProjectScope, id: bigint): Promise<boolean> =>
    (await findDeliveryDetails(core.db, scope, id, 1)) !== null;
  routes.add(`GET ${DELIVERIES}`, READ, async ({ scope, query }) => {
    const page = keysetOf(query, parseDelivery);
    return listOf(await searchDeliveries(core.db, scope, readFilters(query), page), page, rowView, ({ id }) =>
      deliveryId(id),
    );
  });
  routes.add(`GET ${DELIVERIES}/:delivery`, READ, ({ scope, params }) => viewOf(scope, numberOf(params.delivery)));
  routes.add(`POST ${DELIVERIES}/:delivery/retry`, MANAGE, async ({ scope, params, own }) => {
    const id = numberOf(params.delivery);
    const sending = { sender: webhooks.sender(), sealingKeys: await sealingKeys() };
    const retried = await retryDelivery(own, sending, id, scope);
    // The deliveries to a deleted endpoint still exist.
    if (retried.kind === 'rejected' && retried.code === 'no_delivery' && (await isKept(scope, id))) {
      throw new RequestError(
        'conflict_error',
        'The endpoint of this delivery was deleted, so the delivery cannot be sent again.',
      );
    }
    done(retried);
    return viewOf(scope, id);
  });
  routes.add(`POST ${RETRIES}`, MANAGE, async ({ scope, body, own }) => {
    const { retry } = done(await retryDeliveries(own, scope, readFilters(body)));
    return retryView(retry);
  });
  routes.add(`GET ${RETRIES}`, READ, async ({ scope }) => {
    const running = await runningRetry(core.db, scope);
    return { running: running === null ? null : retryView(running) };
  });
  routes.add(`GET ${RETRIES}/:retry`, READ, async ({ scope, params }) =>
    retryView(done(await retryProgress(core, scope, retryId(params.retry))).retry),
  );
  routes.add(`POST ${RETRIES}/:retry/stop`, MANAGE, async ({ scope, params, own }) => {
    const stopped = await stopRetry(own, scope, retryId(params.retry));
    return retryView(done(stopped).retry);
  });
}

function noDelivery() {
  return refusalError(rejected('no_delivery'));
}

const MAX_BIGINT = 2n ** 63n - 1n;

/** The number in `dlv_…`; null for any other text. */
function parseDelivery(text: string): bigint | null {
  const [, digits] = /^dlv_([1-9]\d{0,18})$/.exec(text) ?? [];
  const id = digits === undefined ? null : BigInt(digits);
  return id === null || id > MAX_BIGINT ? null : id;
}

function numberOf(text: string): bigint {
  const id = parseDelivery(text);
  if (id === null) throw noDelivery();
  return id;
}

function retryId(text: string): string {
  const id = parseUuid(text);
  if (id === null) throw refusalError(rejected('no_retry'));
  return id;
}

/** The id of a payment in the form of its API. */
export function readPayment(text: string | undefined): string | null {
  if (text === undefined) return null;
  const id = parsePaymentId(text.trim())?.id;
  if (id === undefined) throw invalid('payment', `payment must be the whole id of a payment (${PAYMENT_ID_FORMS}).`);
  return id;
}

function readFilters(query: DeliveryFilters): DeliverySearch {
  const { endpoint, type, state, status } = query;
  return {
    endpointId: endpoint === undefined ? null : endpointId(endpoint),
    types: type === undefined || !isStoredEventType(type) ? null : [type],
    state: state ?? null,
    answer: answerOf(status),
    ...readCreated(query),
    paymentId: readPayment(query.payment),
  };
}

function answerOf(text: string | undefined): DeliverySearch['answer'] {
  if (text === undefined) return null;
  if (text === 'none') return 'none';
  if (/^[1-5]\d\d$/.test(text)) return Number(text);
  throw invalid('status', 'status must be a status code from 100 to 599, or the word none.');
}

export function eventPaymentView(row: EventPayment & { readonly type: string }): EventPaymentView {
  const { type, paymentId, api, paymentName, amountMinor, currency } = row;
  return {
    payment: paymentId === null || api === null ? null : publicPaymentId({ id: paymentId, api }),
    payment_name: paymentName,
    payment_amount:
      amountMinor === null || currency === null || type.startsWith('refund.')
        ? null
        : { amount: formatDecimal(amountMinor, fiatDecimals(currency)), currency },
  };
}

function rowView(row: DeliveryRow): DeliveryRowView {
  if (!isStoredEventType(row.type)) throw new Error(`An event has the type ${row.type}.`);
  return {
    id: deliveryId(row.id),
    endpoint: encodeId('endpoint', row.endpointId),
    url: row.url,
    event: encodeId('event', row.eventId),
    type: row.type,
    state: row.state,
    ...eventPaymentView(row),
    created_at: isoTime(row.createdAt),
    next_attempt_at: isoTimeOrNull(row.nextAttemptAt),
    attempted_at: isoTimeOrNull(row.attemptedAt),
    duration_ms: row.durationMs,
    status: row.responseStatus,
    error_stage: row.errorStage,
  };
}

function deliveryView(found: DeliveryDetails): DeliveryView {
  return {
    ...rowView(found),
    // While its endpoint is paused nothing is sent, even if an attempt is due.
    next_attempt_at: found.endpointState === 'on' ? isoTimeOrNull(found.nextAttemptAt) : null,
    endpoint_state: found.endpointState,
    delivered_at: isoTimeOrNull(found.deliveredAt),
    body: found.body,
    attempts: found.attempts.slice(0, MAX_ATTEMPTS).map(attemptView),
    has_more_attempts: found.attempts.length > MAX_ATTEMPTS,
  };
}

function attemptView(attempt: AttemptDetails): AttemptView {
  return {
    at: isoTime(attempt.startedAt),
    manual: attempt.manual,
    duration_ms: attempt.durationMs,
    request_headers: { ...attempt.requestHeaders },
    status: attempt.responseStatus,
    response_headers: attempt.responseHeaders === null ? null : { ...attempt.responseHeaders },
    response_body: attempt.responseBody,
    response_truncated: attempt.responseTruncated,
    error_stage: attempt.errorStage,
    error: attempt.error,
  };
}

function retryView({ id, startedAt, stoppedAt, total, done: attempted, delivered }: RetryProgress): RetryView {
  return {
    id,
    started_at: isoTime(startedAt),
    stopped_at: isoTimeOrNull(stoppedAt),
    total,
    done: attempted,
    delivered,
  };
}
