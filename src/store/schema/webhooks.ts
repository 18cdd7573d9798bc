import type { GapReason } from '../../domain/event-log.ts';
import type { Mode } from '../../domain/permission.ts';
import type { StoredEventType, WebhookFormat } from '../../domain/shop-message.ts';
import {
  bigint,
  boolean,
  bytes,
  defaulted,
  integer,
  json,
  named,
  nullable,
  smallint,
  text,
  texts,
  timestamp,
  uuid,
} from './column.ts';
import { recordTable } from './record-table.ts';

/** Events: `body` holds the exact bytes that are sent, of messages without what differs from attempt to attempt. */
export const EVENTS = recordTable(
  'events',
  {
    event: {
      id: uuid(),
      project_id: uuid(),
      mode: text<Mode>(),
      payment_id: nullable(uuid()),
      type: text<StoredEventType>(),
      body: text(),
      created_at: timestamp(),
      /** The request that caused the event. */
      request_id: nullable(text()),
    },
  },
  {},
);

/** The receivers of projects' events. Secrets are encrypted; only the application decrypts them. */
export const WEBHOOK_ENDPOINTS = {
  id: uuid(),
  project_id: uuid(),
  mode: text<Mode>(),
  url: text(),
  events: texts<StoredEventType>(),
  secret: named('sealedSecret', bytes()),
  /** Counts the endpoint's secrets. Sealing a secret with another key does not change it. */
  secret_version: defaulted(integer()),
  previous_secret: named('previousSealedSecret', nullable(bytes())),
  previous_secret_until: nullable(timestamp()),
  disabled_at: nullable(timestamp()),
  disabled_reason: nullable(text()),
  /** The time since which nothing is sent and due deliveries wait; null if it is not paused. */
  paused_at: nullable(timestamp()),
  deleted_at: nullable(timestamp()),
  created_at: timestamp(),
  /** Null: ours. */
  format: nullable(text<WebhookFormat>()),
};

/** `overtaken`: given up after some failed attempts for a newer message about the same invoice. */
export const DELIVERY_STATES = ['waiting', 'delivered', 'failed', 'stopped', 'overtaken'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export const DELIVERIES = {
  id: defaulted(bigint()),
  event_id: uuid(),
  endpoint_id: uuid(),
  state: text<DeliveryState>(),
  attempts: defaulted(smallint()),
  next_attempt_at: nullable(timestamp()),
  created_at: timestamp(),
  delivered_at: nullable(timestamp()),
};

/** Messages that are not finished, which wait for each other. */
export const MESSAGE_QUEUE = { endpoint_id: uuid(), payment_id: uuid(), delivery_id: bigint() };

export const DELIVERY_ATTEMPTS = {
  id: defaulted(bigint()),
  delivery_id: bigint(),
  manual: boolean(),
  started_at: timestamp(),
  duration_ms: integer(),
  request_headers: json<Record<string, string>>(),
  response_status: nullable(smallint()),
  response_headers: nullable(json<Record<string, string>>()),
  response_body: nullable(text()),
  /** Whether the answer was longer than the part that is stored. */
  response_truncated: boolean(),
  error_stage: nullable(text()),
  error: nullable(text()),
};

/** Deliveries that somebody sends again together. */
export const DELIVERY_RETRIES = {
  id: uuid(),
  project_id: uuid(),
  mode: text<Mode>(),
  started_at: timestamp(),
  total: integer(),
  stopped_at: nullable(timestamp()),
};

/** The former state of each of these deliveries. */
export const RETRIED_DELIVERIES = {
  retry_id: uuid(),
  delivery_id: bigint(),
  state: text<DeliveryState>(),
  next_attempt_at: nullable(timestamp()),
  attempted: boolean(),
};

export const EVENT_POSITIONS = {
  project_id: uuid(),
  mode: text<Mode>(),
  position: bigint(),
  /** Null: a gap, from `gap_from` to the position. */
  event_id: nullable(uuid()),
  gap_from: nullable(bigint()),
  gap_reason: nullable(text<GapReason>()),
};

export const EVENT_HEADS = {
  project_id: uuid(),
  mode: text<Mode>(),
  /** The last position. */
  head: bigint(),
  /** The first position that was not deleted. */
  oldest: defaulted(bigint()),
};

export const UNNUMBERED_EVENTS = { n: defaulted(bigint()), event_id: uuid() };

/** The progress through the events from before the log; no row once they are numbered. */
export const EVENT_NUMBERING = { id: smallint(), numbered_to: nullable(uuid()), number_to: uuid() };
