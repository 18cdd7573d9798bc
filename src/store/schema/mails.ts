import type { AttentionKind } from '../../domain/attention.ts';
import type { SavedCustomerMail, SavedInvoiceMail, SavedMail } from '../../domain/mail-content.ts';
import type { MailTime, MailLanguage, Notification } from '../../domain/notification.ts';
import type { Mode } from '../../domain/permission.ts';
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
  timestamp,
  uuid,
} from './column.ts';

export type MailOutcome = 'sent' | 'refused' | 'given_up' | 'dropped';

export const MAILS = {
  id: uuid(),
  /** Null: a mail to a customer. */
  person_id: nullable(uuid()),
  /** The payment of a mail to a customer; null: a mail to a person. */
  payment_id: nullable(uuid()),
  /** The request of a mail about an invoice; null: another mail. */
  payment_request_id: named('requestId', nullable(uuid())),
  kind: text<(SavedMail | SavedCustomerMail | SavedInvoiceMail)['kind']>(),
  occasion: named('mailKey', text()),
  content: json<SavedMail | SavedCustomerMail | SavedInvoiceMail | Readonly<Record<string, never>>>(),
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
  /** The project whose mails it switches off; null: the kind is not of one project. */
  project_id: nullable(uuid()),
};

/** Items that need or needed attention, as they were noticed. Later ones have higher ids. */
export const ATTENTION_OCCURRENCES = {
  id: defaulted(bigint()),
  project_id: uuid(),
  mode: text<Mode>(),
  kind: text<AttentionKind>(),
  subject: text(),
  occurrence: text(),
  /** The name of a payment, endpoint or network. */
  name: text(),
  /** An amount with its asset, such as `0.5 ETH`. */
  amount: nullable(text()),
  detail: nullable(text()),
  noticed_at: timestamp(),
  ended_at: nullable(timestamp()),
  /** When mails said that an endpoint fails. */
  mailed_at: nullable(timestamp()),
  /** When mails said that an endpoint no longer fails. */
  mailed_over_at: nullable(timestamp()),
};

export const NOTIFICATION_CHOICES = {
  person_id: uuid(),
  wallet_changed: boolean(),
  endpoints: boolean(),
  attention: text<MailTime>(),
  weekly_on: nullable(smallint()),
  zone: nullable(text()),
  language: nullable(text<MailLanguage>()),
  /** The newest item that was mailed to the person, or existed before they asked for mails. */
  attention_seen: bigint(),
  attention_mailed_at: nullable(timestamp()),
  /** Days in the person's zone. */
  daily_made: nullable(text()),
  weekly_made: nullable(text()),
};

/** The mails about a project's payments that a person has chosen. */
export const PROJECT_NOTIFICATIONS = {
  person_id: uuid(),
  project_id: uuid(),
  payments: text<MailTime>(),
  refunds: boolean(),
  monthly: boolean(),
  /** Mails at once are about what happened since. */
  payments_since: timestamp(),
  refunds_since: timestamp(),
  /** Days in the person's zone. */
  daily_made: nullable(text()),
  monthly_made: nullable(text()),
};

/** How far payments were followed for mails. */
export const MAIL_PROGRESS = {
  id: smallint(),
  taken_in: bigint(),
  newest: bigint(),
  ended_before: nullable(bigint()),
  events_until: timestamp(),
};

/** Whether and how a project mails its customers. */
export const PROJECT_CUSTOMER_MAILS = {
  project_id: uuid(),
  is_on: boolean(),
  /** Mails are about what happened since. */
  since: timestamp(),
  /** The sender's address, and where replies go; null: MAIL_FROM. */
  from_address: nullable(text()),
  reply_to: nullable(text()),
  /** The language of customers whose language is unknown. */
  language: text(),
};

export const PAYMENT_LANGUAGES = { payment_id: uuid(), language: text() };

/** Customers who want no more mails, by the SHA-256 of project and address. */
export const CUSTOMER_REFUSALS = { project_id: uuid(), email_hash: bytes(), refused_at: timestamp() };

export const CUSTOMER_REFUSAL_LINKS = {
  token_hash: bytes(),
  project_id: uuid(),
  email_hash: bytes(),
  created_at: timestamp(),
};
