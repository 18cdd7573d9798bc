import type { AttentionKind } from './attention.ts';

/**
 * The kinds of mail that the link in a mail switches off, without a session. Changed wallets are not among them: that
 * alarm is switched off by reauthentication alone, and mails about one's own account by nobody.
 */
export const NOTIFICATIONS = ['endpoints', 'attention', 'weekly'] as const;
export type Notification = (typeof NOTIFICATIONS)[number];

/** The languages of the dashboard and of mails. */
export const MAIL_LANGUAGES = ['en', 'de'] as const;
export type MailLanguage = (typeof MAIL_LANGUAGES)[number];

/** How somebody gets a kind of mail. */
export const ATTENTION_TIMES = ['at_once', 'daily', 'off'] as const;
export type AttentionTime = (typeof ATTENTION_TIMES)[number];

/** The mails that a person has chosen, and when they are sent. */
export interface NotificationChoices {
  readonly walletChanged: boolean;
  readonly endpoints: boolean;
  readonly attention: AttentionTime;
  /** The weekday of the weekly summary, from 1 for Monday to 7; null: none. */
  readonly weeklyOn: number | null;
  /** The zone of daily and weekly mails and of times in mails; IANA name. Null: not chosen yet, which is UTC. */
  readonly zone: string | null;
  /** Null: not known yet, which is English. */
  readonly language: MailLanguage | null;
}

/**
 * Of those who have chosen nothing: what is an alarm comes, everything else is asked for first.
 */
export const USUAL_CHOICES: NotificationChoices = {
  walletChanged: true,
  endpoints: true,
  attention: 'off',
  weeklyOn: null,
  zone: null,
  language: null,
};

/** The zone of somebody's mails. */
export function zoneOf({ zone }: Pick<NotificationChoices, 'zone'>): string {
  return zone ?? 'UTC';
}

/** The hour of the day at which daily and weekly mails are made, in the person's zone. */
export const MAIL_HOUR = 8;

/** What of it has mails of its own, and so is in none about what needs attention. */
const OWN_MAILS: readonly string[] = ['endpoint_failing', 'endpoint_disabled', 'wallet_changed'];

export function isInAttentionMails(kind: AttentionKind): boolean {
  return !OWN_MAILS.includes(kind);
}
