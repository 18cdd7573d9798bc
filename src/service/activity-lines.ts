import type { Logger } from 'pino';
import type { Activity, Observer } from '../app/observer.ts';
import { encodeId, deliveryId } from '../domain/id.ts';
import { formatDecimal } from '../domain/money.ts';
import type { Payment } from '../domain/payment.ts';
import type { Problems } from '../domain/problems.ts';
import { publicPaymentId } from '../domain/payment-kind.ts';
import { createRefusalLines } from './refusal-lines.ts';
import { MAX_DELIVERY_ATTEMPTS } from '../domain/retry-schedule.ts';
import { eventFacts } from '../wire/event.ts';
import { durationText } from './plain-text.ts';

/** The fields of a line beside its message: ids, names, amounts as text, durations in milliseconds named `…_ms`. */
type Fields = Readonly<Record<string, string | number | null | undefined>>;

interface Line {
  readonly level: 'debug' | 'info' | 'warn';
  readonly fields: Fields;
  readonly message: string;
}

type Of<Kind extends Activity['kind']> = Extract<Activity, { readonly kind: Kind }>;

/** The highest level among the lines of each kind. */
const HIGHEST_LEVEL: Readonly<Record<Activity['kind'], Line['level']>> = {
  payments_created: 'debug',
  payment_changed: 'warn',
  refund_changed: 'info',
  delivery_attempted: 'info',
  endpoint_disabled: 'warn',
  chain_rolled_back: 'warn',
  guess_refused: 'info',
  money_lost: 'warn',
  sweep_planned: 'info',
  batch_saved: 'debug',
};

/**
 * Logs every activity. Only ids, networks, amounts and durations: no customer data, and only the host of a webhook's
 * URL, because the rest may contain a password. An endpoint that fails is also reported as a problem.
 */
export function logActivities(logger: Logger, problems: Problems): Observer {
  // Every field is selected here: scanning each line for secrets takes five times as long as writing it.
  const log = logger.child({}, { redact: [] });
  const refusal = createRefusalLines(log, problems);
  return (activity) => {
    if (activity.kind === 'guess_refused') {
      const { what, reason, personId: person, client, requestId: request } = activity;
      refusal({ what, reason, person, client, request });
      return;
    }
    // Lines are only built if they are written: there may be thousands per second.
    const lines = log.isLevelEnabled(HIGHEST_LEVEL[activity.kind]) ? linesOf(activity) : [];
    for (const { level, fields, message } of lines) log[level](presentFields(fields), message);
    if (activity.kind === 'delivery_attempted') reportEndpoint(problems, activity);
  };
}

function presentFields(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

function linesOf(activity: Activity): readonly Line[] {
  switch (activity.kind) {
    case 'payments_created':
      return createdLines(activity);
    case 'payment_changed':
      return changeLines(activity);
    case 'refund_changed':
      return [refundLine(activity)];
    case 'delivery_attempted':
      return [attemptLine(activity)];
    case 'endpoint_disabled':
      return [disabledLine(activity)];
    case 'chain_rolled_back':
      return [rollbackLine(activity)];
    case 'money_lost':
      return [lostLine(activity)];
    case 'sweep_planned': {
      const { projectId: project, network, deposits, calls, swept } = activity;
      const fields = { kind: 'sweep', project, network, deposits, calls, swept };
      const message = `a sweep of ${deposits} deposits on ${network} was planned; ${swept} were swept before`;
      return [{ level: 'info', fields, message }];
    }
    case 'batch_saved':
    case 'guess_refused':
      return [];
  }
}

/** Attempts by hand are not reported, because a person is watching the result. */
function reportEndpoint(problems: Problems, attempt: Attempt): void {
  if (attempt.record.leaseUntil === null) return;
  const { endpoint } = attempt.delivery;
  const subject = `webhook endpoint ${encodeId('endpoint', endpoint.id)}`;
  if (attempt.outcome === 'delivered') problems.works(subject);
  else problems.failed(subject, failureOf(attempt), endpointFields(endpoint).fields);
}

function createdLines({ changes }: Of<'payments_created'>): readonly Line[] {
  return changes.map(({ after, events }) => ({
    level: 'debug',
    fields: { kind: 'payment_created', ...paymentFields(after), status: after.status, request: events[0]?.requestId },
    message: `payment ${publicPaymentId(after)} was created`,
  }));
}

function changeLines({ change, requestId }: Of<'payment_changed'>): readonly Line[] {
  const { before, after, transitions, events } = change;
  const id = publicPaymentId(after);
  const common = { ...paymentFields(after), ...moneyFields(after), request: requestId };
  const lines: Line[] = transitions.map(({ from, to, cause, at }) => ({
    level: 'info',
    fields: { kind: 'payment_transition', ...common, from, to, cause, age_ms: at - after.createdAt },
    message: `payment ${id} went from ${from} to ${to} (${words(cause)})`,
  }));
  if (transitions.length === 0 && before !== null && before.exception !== after.exception) {
    const { exception } = after;
    const what = exception === 'none' ? `is no longer ${words(before.exception)}` : `is ${words(exception)}`;
    lines.push({ level: 'info', fields: { kind: 'payment_exception', ...common }, message: `payment ${id} ${what}` });
  }
  for (const event of events.filter(({ type }) => type === 'payment.wrong_asset')) {
    const fields = { kind: 'payment_wrong_asset', ...common, event: encodeId('event', event.id) };
    const message = `payment ${id} received money in an asset for which it never had a quote`;
    lines.push({ level: 'warn', fields, message });
  }
  return lines;
}

function paymentFields(payment: Payment): Fields {
  const { projectId: project, mode, quote } = payment;
  return { payment: publicPaymentId(payment), project, mode, network: quote?.network, asset: quote?.asset };
}

function moneyFields({ quote, received, exception, failureReason }: Payment): Fields {
  if (quote === null) return { exception, reason: failureReason };
  return {
    owed: formatDecimal(quote.owedUnits, quote.decimals),
    received: formatDecimal(received.all.seenUnits, quote.decimals),
    confirmed: formatDecimal(received.all.confirmedUnits, quote.decimals),
    transaction: received.transactionHash,
    exception,
    reason: failureReason,
  };
}

function words(name: string): string {
  return name.replaceAll('_', ' ');
}

function refundLine({ refund, event, requestId }: Of<'refund_changed'>): Line {
  const id = encodeId('refund', refund.id);
  const payment = publicPaymentId({ id: refund.paymentId, api: refund.paymentApi });
  const { projectId: project, mode, status, network, asset, failureReason: reason, transactionHash } = refund;
  const amount = formatDecimal(refund.units, refund.decimals);
  const why = reason === null ? '' : ` (${words(reason)})`;
  return {
    level: 'info',
    fields: {
      kind: 'refund',
      refund: id,
      payment,
      project,
      mode,
      status,
      network,
      asset,
      amount,
      reason,
      transaction: transactionHash,
      request: requestId,
    },
    message: `refund ${id} of payment ${payment}: ${event.replace('refund.', '')}${why}`,
  };
}

function disabledLine({ endpoint, reason }: Of<'endpoint_disabled'>): Line {
  const { id, fields } = endpointFields(endpoint);
  const message = `webhook endpoint ${id} is disabled: ${reason}`;
  return { level: 'warn', fields: { kind: 'endpoint_disabled', ...fields, reason }, message };
}

/** A rollback that affects no payment is normal. */
function rollbackLine({ network, fromHeight, toHeight, payments }: Of<'chain_rolled_back'>): Line {
  const blocks = fromHeight - toHeight;
  return {
    level: payments > 0 ? 'warn' : 'info',
    fields: { kind: 'chain_rollback', network, from_height: fromHeight, to_height: toHeight, blocks, payments },
    message: `a chain reorganisation on ${network} removed ${blocks} blocks, back to block ${toHeight}; the removed blocks held the money of ${payments} payments`,
  };
}

function lostLine({ network, projectId: project, lost }: Of<'money_lost'>): Line {
  const { address, asset, amountUnits, decimals, transactionHash: transaction } = lost;
  const amount = formatDecimal(amountUnits, decimals);
  return {
    level: 'warn',
    fields: { kind: 'money_lost', project, network, asset, amount, address, transaction },
    message: `${amount} ${asset} arrived at ${address} on ${network}, an address that this database has given to no payment`,
  };
}

type Attempt = Of<'delivery_attempted'>;

/** An endpoint in log lines: only the host of its URL, because path and query may contain secrets. */
function endpointFields({ id: uuid, projectId: project, mode, url }: Attempt['delivery']['endpoint']) {
  const id = encodeId('endpoint', uuid);
  return { id, fields: { endpoint: id, project, mode, host: URL.parse(url)?.host ?? '' } };
}

/** The reason why an attempt did not deliver, without the answer's body. */
function failureOf({ record: { response, error } }: Attempt): string {
  if (response !== null) return `the endpoint responded with ${response.status}`;
  return error?.message ?? 'the endpoint did not respond';
}

/** One wide line per delivery attempt. */
function attemptLine(attempt: Attempt): Line {
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
  if (nextMs !== null) return nextMs === 0 ? 'next attempt at once' : `next attempt in ${durationText(nextMs)}`;
  return next.kind === 'failed' ? `stopped after ${MAX_DELIVERY_ATTEMPTS} attempts` : 'its schedule stays as it is';
}
