import { Type, type Static } from 'typebox';
import { MAIL_TIMES, MAIL_LANGUAGES, NOTIFICATIONS } from '../../../domain/notification.ts';
import { oneOf, text, nullable } from '../../fields.ts';
import type { Contracts } from '../contract-parts.ts';

/** People's choices of mails. */

const choices = {
  wallet_changed: Type.Boolean(),
  endpoints: Type.Boolean(),
  attention: oneOf(MAIL_TIMES),
  /** From 1 for Monday to 7; null: no summary. */
  weekly_on: nullable(Type.Integer({ minimum: 1, maximum: 7 })),
  /** The IANA name; null: not chosen yet, UTC is used. */
  zone: nullable(text({ max: 64, min: 1 })),
  /** Null: unknown, English is used. */
  language: nullable(oneOf(MAIL_LANGUAGES)),
};

const ofProject = { payments: oneOf(MAIL_TIMES), refunds: Type.Boolean(), monthly: Type.Boolean() };

const choicesShape = Type.Object({
  ...choices,
  /** The choices for each project's live payments; a project without any has none. */
  projects: Type.Array(Type.Object({ id: Type.String(), ...ofProject })),
  /** Whether the service sends mail at all. */
  sends_mail: Type.Boolean(),
});
export type ChoicesView = Static<typeof choicesShape>;

/** `open`: it can switch the notification off; `used`: it has. */
const unsubscribeShape = Type.Object({
  state: oneOf(['open', 'used', 'unknown']),
  notification: nullable(oneOf(NOTIFICATIONS)),
  /** The name of the project that it is about; null: all. */
  project: nullable(Type.String()),
});
export type UnsubscribeAnswer = Static<typeof unsubscribeShape>;

const tokenBody = Type.Object({ token: text({ max: 128, min: 1 }) });

export const notificationsContract = {
  'GET /dashboard/api/account/notifications': { answer: choicesShape },
  /** Absent fields stay as they are. Switching `wallet_changed` off requires reauthentication. */
  'POST /dashboard/api/account/notifications': { body: Type.Partial(Type.Object(choices)), answer: choicesShape },
  /** Absent fields stay as they are. The person must be able to see the project's payments. */
  'POST /dashboard/api/account/notifications/project': {
    body: Type.Object({ id: text({ max: 36, min: 36 }), ...Type.Partial(Type.Object(ofProject)).properties }),
    answer: choicesShape,
  },
  /** The token of the link in a mail. */
  'POST /dashboard/api/unsubscribe/state': { body: tokenBody, answer: unsubscribeShape },
  'POST /dashboard/api/unsubscribe': { body: tokenBody, answer: unsubscribeShape },
} as const satisfies Contracts;
