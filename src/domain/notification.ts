import type { AttentionKind } from './attention.ts';

/**
 * The kinds of mail that the link in a mail switches off, without a session. Mails about changed wallets are not among
 * them, because they are an alarm: switching them off needs reauthentication. Mails about one's own account cannot be
 * switched off.
 */
export const SERVICE_NOTIFICATIONS = ['endpoints', 'attention', 'weekly'] as const;
/** The kinds of mail about the payments of one project. */
export const PROJECT_NOTIFICATIONS = ['payments', 'refunds', 'monthly'] as const;
export const NOTIFICATIONS = [...SERVICE_NOTIFICATIONS, ...PROJECT_NOTIFICATIONS] as const;
export type ServiceNotification = (typeof SERVICE_NOTIFICATIONS)[number];
export type ProjectNotification = (typeof PROJECT_NOTIFICATIONS)[number];
export type Notification = (typeof NOTIFICATIONS)[number];

/** The languages of the dashboard and of mails. */
export const MAIL_LANGUAGES = ['en', 'de'] as const;
export type MailLanguage = (typeof MAIL_LANGUAGES)[number];

/** When a person gets mails about items that need attention, or about completed payments. */
export const MAIL_TIMES = ['at_once', 'daily', 'off'] as const;
export type MailTime = (typeof MAIL_TIMES)[number];

/** The mails that a person has chosen, and when they are sent. */
export interface NotificationChoices {
  readonly walletChanged: boolean;
  readonly endpoints: boolean;
  readonly attention: MailTime;
  /** The weekday of the weekly summary, from 1 for Monday to 7; null: none. */
  readonly weeklyOn: number | null;
  /** The zone of daily and weekly mails and of times in mails; IANA name. Null: not chosen yet, UTC is used. */
  readonly zone: string | null;
  /** Null: unknown, English is used. */
  readonly language: MailLanguage | null;
}

/** The mails about one project's live payments that a person has chosen. All of them are opt-in. */
export interface ProjectChoices {
  /** Each completed payment at once, or the sum of a day. */
  readonly payments: MailTime;
  readonly refunds: boolean;
  /** The statement of each month. */
  readonly monthly: boolean;
}

export const USUAL_PROJECT_CHOICES: ProjectChoices = { payments: 'off', refunds: false, monthly: false };

/** Defaults: alarms are on, everything else is opt-in. */
export const USUAL_CHOICES: NotificationChoices = {
  walletChanged: true,
  endpoints: true,
  attention: 'off',
  weeklyOn: null,
  zone: null,
  language: null,
};

/** The zone of a person's mails. */
export function zoneOf({ zone }: Pick<NotificationChoices, 'zone'>): string {
  return zone ?? 'UTC';
}

/** The hour of the day at which daily and weekly mails are made, in the person's zone. */
export const MAIL_HOUR = 8;

/** Kinds that have mails of their own, and so are left out of mails about items that need attention. */
const OWN_MAILS: readonly string[] = ['endpoint_failing', 'endpoint_disabled', 'wallet_changed'];

export function isInAttentionMails(kind: AttentionKind): boolean {
  return !OWN_MAILS.includes(kind);
}
