import {
  PROJECT_NOTIFICATIONS,
  USUAL_PROJECT_CHOICES,
  zoneOf,
  type Notification,
  type NotificationChoices,
  type ProjectChoices,
  type ProjectNotification,
  type ServiceNotification,
} from '../../domain/notification.ts';
import { mayDo, roleIn } from '../../domain/role.ts';
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
import { findPerson, membershipsOf } from '../../store/people/people.ts';
import { findProjectChoices, lockProjectChoices, saveProjectChoices } from '../../store/people/project-choices.ts';
import { findProject } from '../../store/projects/projects.ts';
import { differences, recordAudit } from '../audit.ts';
import { forActor, type App } from '../context.ts';
import { noProject, rejected, type Rejected } from '../rejected.ts';
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

/** A person's choices of mails about the payments of a project. */
export interface OwnProjectChoices extends ProjectChoices {
  readonly projectId: string;
}

/** A person's choices for each project; projects without a choice are missing. */
export async function projectChoices(app: App, personId: string): Promise<readonly OwnProjectChoices[]> {
  const rows = await findProjectChoices(app.db, { personId });
  return rows.map(({ projectId, payments, refunds, monthly }) => ({ projectId, payments, refunds, monthly }));
}

/** Changes only the given choices for a project whose payments the person may see. */
export function changeProjectChoices(
  app: App,
  personId: string,
  projectId: string,
  given: Partial<ProjectChoices>,
): Promise<{ readonly kind: 'done' } | Rejected> {
  return app.db.transaction().execute(async (trx) => {
    const isThere = (await findProject(trx, projectId)) !== null;
    const role = roleIn(await membershipsOf(trx, personId), projectId);
    if (!isThere || !mayDo(role, 'read_payments')) return noProject(projectId);
    await changeProject(app, trx, { personId, projectId }, given);
    return { kind: 'done' };
  });
}

async function changeProject(
  app: App,
  trx: Trx,
  of: { readonly personId: string; readonly projectId: string },
  given: Partial<ProjectChoices>,
): Promise<void> {
  const now = app.clock();
  const zone = zoneOf((await findChoices(trx, of.personId)) ?? NOTHING_SAVED);
  const today = dayAt(zone, now);
  const fresh = { ...USUAL_PROJECT_CHOICES, paymentsSince: now, refundsSince: now, dailyMade: null, monthlyMade: null };
  const before = (await lockProjectChoices(trx, of.personId, of.projectId)) ?? { ...of, ...fresh };
  const after = { ...before, ...given };
  const begins = (isOn: (of: ProjectChoices) => boolean): boolean => !isOn(before) && isOn(after);
  // Somebody who switches mails on gets those about what happens from now on.
  await saveProjectChoices(trx, {
    ...after,
    ...(begins(({ payments }) => payments === 'at_once') ? { paymentsSince: now } : {}),
    ...(begins(({ payments }) => payments === 'daily') ? { dailyMade: today } : {}),
    ...(begins(({ refunds }) => refunds) ? { refundsSince: now } : {}),
    ...(begins(({ monthly }) => monthly) ? { monthlyMade: today } : {}),
  });
  const shown = ({ payments, refunds, monthly }: ProjectChoices) => ({ payments, refunds, monthly });
  const changed = differences(shown(before), shown(after));
  if (Object.keys(changed.after).length === 0) return;
  await recordAudit(app, trx, {
    action: 'person.notifications',
    projectId: of.projectId,
    subject: { kind: 'person', id: of.personId },
    ...changed,
  });
}

const OFF: Readonly<Record<ServiceNotification, Partial<NotificationChoices>>> = {
  endpoints: { endpoints: false },
  attention: { attention: 'off' },
  weekly: { weeklyOn: null },
};
const PROJECT_OFF: Readonly<Record<ProjectNotification, Partial<ProjectChoices>>> = {
  payments: { payments: 'off' },
  refunds: { refunds: false },
  monthly: { monthly: false },
};
const isOfProject = (notification: Notification): notification is ProjectNotification =>
  PROJECT_NOTIFICATIONS.some((one) => one === notification);

export type UnsubscribeState =
  | {
      readonly kind: 'open' | 'used';
      readonly notification: Notification;
      /** The name of the project that it is about; null: all. */
      readonly project: string | null;
    }
  | { readonly kind: 'unknown' };

/** The kind of mail that the link of a mail would switch off. */
export async function unsubscribeState(app: App, token: string): Promise<UnsubscribeState> {
  const hash = tokenHash(token);
  const found = hash === null ? null : await findUnsubscribe(app.db, hash);
  if (found === null) return { kind: 'unknown' };
  const { notification, usedAt } = found;
  const project = await projectName(app.db, found);
  return { kind: usedAt === null ? 'open' : 'used', notification, project };
}

async function projectName(
  executor: App['db'] | Trx,
  { projectId }: { readonly projectId: string | null },
): Promise<string | null> {
  return projectId === null ? null : ((await findProject(executor, projectId))?.name ?? null);
}

/** Switches one kind of mail off for the holder of a mail's link. Each link works once. */
export function unsubscribe(app: App, token: string, ip: string): Promise<UnsubscribeState> {
  const hash = tokenHash(token);
  if (hash === null) return Promise.resolve({ kind: 'unknown' });
  return app.db.transaction().execute(async (trx) => {
    const found = await findUnsubscribe(trx, hash);
    if (found === null) return { kind: 'unknown' };
    const { personId, notification, projectId } = found;
    if (await useUnsubscribe(trx, hash, app.clock())) {
      const person = await findPerson(trx, personId);
      const actor = { kind: 'person', id: personId, name: person?.email ?? '', ip } as const;
      const own = forActor(app, actor, app.requestId);
      if (!isOfProject(notification)) await change(own, trx, personId, OFF[notification]);
      else if (projectId !== null) {
        await changeProject(own, trx, { personId, projectId }, PROJECT_OFF[notification]);
      }
    }
    return { kind: 'used', notification, project: await projectName(trx, found) };
  });
}
