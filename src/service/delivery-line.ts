import type { Activity } from '../app/observer.ts';
import { deliveryId, encodeId } from '../domain/id.ts';
import { MAX_DELIVERY_ATTEMPTS } from '../domain/retry-schedule.ts';
import { eventFacts } from '../wire/event.ts';
import type { Line } from './line.ts';
import { durationText } from './plain-text.ts';

type Attempt = Extract<Activity, { readonly kind: 'delivery_attempted' }>;

/** An endpoint in log lines: only the host of its URL, because path and query may contain secrets. */
export function endpointFields(endpoint: Attempt['delivery']['endpoint']) {
  const id = encodeId('endpoint', endpoint.id);
  const { projectId: project, mode, url } = endpoint;
  return { id, fields: { endpoint: id, project, mode, host: URL.parse(url)?.host ?? '' } };
}

/** Why an attempt did not deliver. The answer's body is not repeated. */
export function failureOf({ record: { response, error } }: Attempt): string {
  if (response !== null) return `it answered ${response.status}`;
  return error?.message ?? 'it did not answer';
}

/** One wide line per delivery attempt. */
export function attemptLine(attempt: Attempt): Line {
  const { delivery, record, outcome } = attempt;
  const { type, createdAt, payment, refund } = eventFacts(delivery.body);
  const { id: endpoint, fields } = endpointFields(delivery.endpoint);
  const { next, startedAt, response, leaseUntil } = record;
  const durationMs = Math.round(record.durationMs);
  const sinceEventMs = startedAt + durationMs - createdAt;
  const problem = outcome === 'delivered' ? null : failureOf(attempt);
  const nextMs = next.kind === 'again' ? Math.max(0, next.at - startedAt - durationMs) : null;
  return {
    level: 'info',
    fields: {
      kind: 'delivery_attempt',
      outcome,
      delivery: deliveryId(delivery.id),
      event: encodeId('event', delivery.eventId),
      type,
      payment,
      refund,
      ...fields,
      attempt: leaseUntil === null ? 'by hand' : delivery.attempts + 1,
      status: response?.status,
      duration_ms: durationMs,
      since_event_ms: Number.isNaN(sinceEventMs) ? null : Math.max(0, sinceEventMs),
      next_ms: nextMs,
      problem,
      request: delivery.requestId,
    },
    message: `${type} to ${endpoint}: ${problem === null ? 'delivered' : `${problem.replace(/\.$/, '')}; ${outlook(attempt, nextMs)}`}`,
  };
}

function outlook({ record: { next } }: Attempt, nextMs: number | null): string {
  if (nextMs !== null) return nextMs === 0 ? 'again at once' : `again in ${durationText(nextMs)}`;
  return next.kind === 'failed' ? `given up after ${MAX_DELIVERY_ATTEMPTS} attempts` : 'its schedule stays as it is';
}
