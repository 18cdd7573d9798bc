import type { Command } from 'commander';
import { deliveriesOf, retryDelivery, sendTestEvent } from '../app/webhooks/deliveries.ts';
import { deliveryId, encodeId } from '../domain/id.ts';
import { STORED_EVENT_TYPES } from '../domain/shop-message.ts';
import { isoTime } from '../wire/time.ts';
import type { DeliverySummary } from '../store/webhooks/deliveries.ts';
import { deliveryIdOf, endpointIdOf, wholeNumber } from './arguments.ts';
import { done } from './refusal.ts';
import { withCointill } from './open.ts';
import { print, printsRecord, table, type OutputOptions } from './output.ts';

/** `cointill webhook test|deliveries|retry`. */
export function addDeliveryCommands(webhook: Command): void {
  printsRecord(
    webhook.command('test').description('send a sample event to an endpoint, even of a type that it did not select'),
  )
    .argument('<id>', "the endpoint's id, we_…", endpointIdOf)
    .requiredOption('--type <type>', `one of ${STORED_EVENT_TYPES.join(', ')}`)
    .action((uuid: string, options: OutputOptions & { readonly type: string }) =>
      withCointill(async ({ app }) => {
        const sent = done(await sendTestEvent(app, uuid, options.type));
        const eventId = encodeId('event', sent.eventId);
        const id = deliveryId(sent.deliveryId);
        print(options, { event_id: eventId, delivery_id: id, type: options.type }, () => [
          `Queued ${options.type} as ${id} (${eventId}). If the service is running, it sends this event at once.`,
        ]);
      }),
    );

  printsRecord(webhook.command('deliveries').description('show the deliveries to an endpoint, newest first'))
    .argument('<id>', "the endpoint's id, we_…", endpointIdOf)
    .option('--limit <n>', 'how many, 1 to 100', wholeNumber(1, 100), 20)
    .action((uuid: string, options: OutputOptions & { readonly limit: number }) =>
      withCointill(async ({ app }) => {
        const { deliveries } = done(await deliveriesOf(app, uuid, options.limit));
        print(options, deliveries.map(deliveryRecord), () => deliveryTable(deliveries));
      }),
    );

  printsRecord(webhook.command('retry').description('send a delivery again now, without changing its schedule'))
    .argument('<delivery-id>', "the delivery's id, dlv_…", deliveryIdOf)
    .action(retry);
}

function retry(id: bigint, options: OutputOptions): Promise<void> {
  return withCointill(async ({ app, sealingKeys: keyOf, policyOf }) => {
    const sealingKeys = await keyOf();
    const { createWebhookSender } = await import('../webhooks/send.ts');
    const sender = createWebhookSender({ policyOf, now: () => performance.now() });
    try {
      const { acknowledged, responseStatus, error, durationMs } = done(
        await retryDelivery(app, { sender, sealingKeys }, id),
      );
      const record = {
        id: deliveryId(id),
        acknowledged,
        response_status: responseStatus,
        error,
        duration_ms: Math.round(durationMs),
      };
      print(options, record, () => {
        const answer = error ?? `the receiver responded with ${responseStatus ?? 'nothing'}`;
        return [
          acknowledged
            ? `Delivered ${deliveryId(id)}: ${answer} after ${Math.round(durationMs)} ms.`
            : `Not delivered: ${answer}. If ${deliveryId(id)} has attempts left, its schedule continues.`,
        ];
      });
    } finally {
      await sender.close();
    }
  });
}

function deliveryRecord(delivery: DeliverySummary): object {
  const { nextAttemptAt, deliveredAt } = delivery;
  return {
    id: deliveryId(delivery.id),
    event_id: encodeId('event', delivery.eventId),
    type: delivery.type,
    state: delivery.state,
    attempts: delivery.attempts,
    next_attempt_at: nextAttemptAt === null ? null : isoTime(nextAttemptAt),
    created_at: isoTime(delivery.createdAt),
    delivered_at: deliveredAt === null ? null : isoTime(deliveredAt),
    body: delivery.body,
    log: delivery.log.map((attempt) => ({
      started_at: isoTime(attempt.startedAt),
      duration_ms: attempt.durationMs,
      manual: attempt.manual,
      request_headers: attempt.requestHeaders,
      response_status: attempt.responseStatus,
      response_headers: attempt.responseHeaders,
      response_body: attempt.responseBody,
      error_stage: attempt.errorStage,
      error: attempt.error,
    })),
  };
}

function deliveryTable(deliveries: readonly DeliverySummary[]): readonly string[] {
  return table(
    ['DELIVERY', 'CREATED', 'TYPE', 'STATE', 'ATTEMPTS', 'NEXT ATTEMPT', 'LAST RESPONSE'],
    deliveries.map((delivery) => [
      deliveryId(delivery.id),
      isoTime(delivery.createdAt),
      delivery.type,
      delivery.state,
      String(delivery.log.length),
      delivery.nextAttemptAt === null ? '-' : isoTime(delivery.nextAttemptAt),
      lastAnswer(delivery),
    ]),
    'Nothing has been sent to this endpoint yet. Try: cointill webhook test ENDPOINT_ID --type order.completed',
  );
}

function lastAnswer({ log }: DeliverySummary): string {
  const last = log.at(-1);
  if (last === undefined) return '-';
  return last.responseStatus === null ? (last.error ?? '-') : String(last.responseStatus);
}
