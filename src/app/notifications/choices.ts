import { zoneOf, type Notification, type NotificationChoices } from '../../domain/notification.ts';
import { dayAfter, dayAt, isTimeZone } from '../../domain/time-zone.ts';
import { newestNoticedItem } from '../../store/figures/noticed-items.ts';
import type { Trx } from '../../store/database.ts';
import {
  findUnsubscribe,
  useUnsubscribe,
  findChoices,
  lockChoices,
  NOTHING_SAVED,
  saveChoices,
  type SavedChoices,
} from '../../store/people/mails.ts';
import { findPerson } from '../../store/people/people.ts';
import { differences, recordAudit } from '../audit.ts';
import { forActor, type App } from '../context.ts';
import { rejected, type Rejected } from '../rejected.ts';
import { tokenHash } from '../people/token.ts';

/** A person's choices of mails. */
export async function notificationChoices(app: App, personId: string): Promise<NotificationChoices> {
  return chosen((await findChoices(app.db, personId)) ?? NOTHING_SAVED);
}

export type ChoicesOutcome = { readonly kind: 'done'; readonly choices: NotificationChoices } | Rejected;

/** Changes only the given fields, so that simultaneous changes of others are kept. */
export function changeChoices(
  app: App,
  personId: string,
  given: Partial<NotificationChoices>,
): Promise<ChoicesOutcome> {
  if (given.zone !== undefined && given.zone !== null && !isTimeZone(given.zone)) {
    return Promise.resolve(rejected('zone', { param: 'zone' }));
  }
  return app.db.transaction().execute(async (trx) => {
    const choices = await change(app, trx, personId, given);
    return { kind: 'done', choices };
  });
}

async function change(
  app: App,
  trx: Trx,
  personId: string,
  given: Partial<NotificationChoices>,
): Promise<NotificationChoices> {
  const before = await lockChoices(trx, personId);
  const after = { ...before, ...given };
  // A person who turns mails on gets items from now on.
  const begins = before.attention === 'off' && after.attention !== 'off';
  await saveChoices(trx, personId, {
    ...after,
    ...(begins ? { attentionSeen: await newestNoticedItem(trx) } : {}),
    // Summaries of past days are skipped; today's may still come.
    ...(before.weeklyOn === after.weeklyOn ? {} : { weeklyMade: dayAfter(dayAt(zoneOf(after), app.clock()), -1) }),
  });
  const changed = differences(chosen(before), chosen(after));
  if (Object.keys(changed.after).length > 0) {
    await recordAudit(app, trx, {
      action: 'person.notifications',
      projectId: null,
      subject: { kind: 'person', id: personId },
      ...changed,
    });
  }
  return chosen(after);
}

function chosen({ walletChanged, endpoints, attention, weeklyOn, zone, language }: SavedChoices): NotificationChoices {
  return { walletChanged, endpoints, attention, weeklyOn, zone, language };
}

const OFF: Readonly<Record<Notification, Partial<NotificationChoices>>> = {
  endpoints: { endpoints: false },
  attention: { attention: 'off' },
  weekly: { weeklyOn: null },
};

export type UnsubscribeState =
  | { readonly kind: 'open' | 'used'; readonly notification: Notification }
  | { readonly kind: 'unknown' };

/** The kind of mail that the link of a mail would switch off. */
export async function unsubscribeState(app: App, token: string): Promise<UnsubscribeState> {
  const hash = tokenHash(token);
  const found = hash === null ? null : await findUnsubscribe(app.db, hash);
  if (found === null) return { kind: 'unknown' };
  return { kind: found.usedAt === null ? 'open' : 'used', notification: found.notification };
}

/** Switches one kind of mail off for the holder of a mail's link. Each link works once. */
export function unsubscribe(app: App, token: string, ip: string): Promise<UnsubscribeState> {
  const hash = tokenHash(token);
  if (hash === null) return Promise.resolve({ kind: 'unknown' });
  return app.db.transaction().execute(async (trx) => {
    const found = await findUnsubscribe(trx, hash);
    if (found === null) return { kind: 'unknown' };
    const { personId, notification } = found;
    if (await useUnsubscribe(trx, hash, app.clock())) {
      const person = await findPerson(trx, personId);
      const actor = { kind: 'person', id: personId, name: person?.email ?? '', ip } as const;
      await change(forActor(app, actor, app.requestId), trx, personId, OFF[notification]);
    }
    return { kind: 'used', notification };
  });
}
