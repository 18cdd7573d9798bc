import type { MailContent } from '../../domain/mail-content.ts';
import type { AttentionTime, MailLanguage, Notification } from '../../domain/notification.ts';
import type { Mode } from '../../domain/permission.ts';
import {
  bigint,
  boolean,
  bytes,
  defaulted,
  integer,
  json,
  nullable,
  smallint,
  text,
  timestamp,
  uuid,
} from './column.ts';

export type MailOutcome = 'sent' | 'refused' | 'given_up' | 'dropped';

export const MAILS = {
  id: uuid(),
  person_id: uuid(),
  kind: text<MailContent['kind']>(),
  occasion: text(),
  content: json<MailContent | Readonly<Record<string, never>>>(),
  created_at: timestamp(),
  next_attempt_at: nullable(timestamp()),
  give_up_at: timestamp(),
  attempts: integer(),
  outcome: nullable(text<MailOutcome>()),
  ended_at: nullable(timestamp()),
  problem: nullable(text()),
};

export const MAIL_UNSUBSCRIBES = {
  token_hash: bytes(),
  person_id: uuid(),
  notification: text<Notification>(),
  created_at: timestamp(),
  used_at: nullable(timestamp()),
};

export const ATTENTION_OCCURRENCES = {
  id: defaulted(bigint()),
  project_id: uuid(),
  mode: text<Mode>(),
  kind: text(),
  subject: text(),
  occurrence: text(),
  name: text(),
  amount: nullable(text()),
  detail: nullable(text()),
  noticed_at: timestamp(),
  ended_at: nullable(timestamp()),
  mailed_at: nullable(timestamp()),
  mailed_over_at: nullable(timestamp()),
};

export const NOTIFICATION_CHOICES = {
  person_id: uuid(),
  wallet_changed: boolean(),
  endpoints: boolean(),
  attention: text<AttentionTime>(),
  weekly_on: nullable(smallint()),
  zone: nullable(text()),
  language: nullable(text<MailLanguage>()),
  /** The newest occurrence that was mailed to the person, or was there before they asked for mails. */
  attention_seen: bigint(),
  attention_mailed_at: nullable(timestamp()),
  /** Days in the person's zone. */
  daily_made: nullable(text()),
  weekly_made: nullable(text()),
};
