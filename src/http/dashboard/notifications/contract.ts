import { Type, type Static } from 'typebox';
import { ATTENTION_TIMES, MAIL_LANGUAGES, NOTIFICATIONS } from '../../../domain/notification.ts';
import { oneOf, text, nullable } from '../../fields.ts';
import type { Contracts } from '../contract-parts.ts';

/** People's choices of mails. */

const choices = {
  wallet_changed: Type.Boolean(),
  endpoints: Type.Boolean(),
  attention: oneOf(ATTENTION_TIMES),
  /** From 1 for Monday to 7; null: no summary. */
  weekly_on: nullable(Type.Integer({ minimum: 1, maximum: 7 })),
  /** The IANA name; null: not chosen yet, UTC is used. */
  zone: nullable(text({ max: 64, min: 1 })),
  /** Null: unknown, English is used. */
  language: nullable(oneOf(MAIL_LANGUAGES)),
};

const choicesShape = Type.Object({
  ...choices,
  /** Whether the service sends mail at all. */
  sends_mail: Type.Boolean(),
});
export type ChoicesView = Static<typeof choicesShape>;

/** `open`: it can switch the notification off; `used`: it has. */
const unsubscribeShape = Type.Object({
  state: oneOf(['open', 'used', 'unknown']),
  notification: nullable(oneOf(NOTIFICATIONS)),
});
export type UnsubscribeAnswer = Static<typeof unsubscribeShape>;

const tokenBody = Type.Object({ token: text({ max: 128, min: 1 }) });

export const notificationsContract = {
  'GET /dashboard/api/account/notifications': { answer: choicesShape },
  /** Absent fields stay as they are. Switching `wallet_changed` off requires reauthentication. */
  'POST /dashboard/api/account/notifications': { body: Type.Partial(Type.Object(choices)), answer: choicesShape },
  /** The token of the link in a mail. */
  'POST /dashboard/api/unsubscribe/state': { body: tokenBody, answer: unsubscribeShape },
  'POST /dashboard/api/unsubscribe': { body: tokenBody, answer: unsubscribeShape },
} as const satisfies Contracts;
