import { actionOfAttention, ATTENTION_KINDS } from '../../domain/attention.ts';
import type { AttentionFact, AttentionSection, MailContent, WeekSection } from '../../domain/mail-content.ts';
import { isInAttentionMails, MAIL_HOUR, zoneOf } from '../../domain/notification.ts';
import { mayDo, roleIn } from '../../domain/role.ts';
import { dayAfter, dayAt, hourAt } from '../../domain/time-zone.ts';
import { openNoticedItems, type NoticedItem } from '../../store/figures/noticed-items.ts';
import type { Trx } from '../../store/database.ts';
import { lockChoices, mailReaders, saveChoices, type MailReader } from '../../store/people/mails.ts';
import { listProjects } from '../../store/projects/projects.ts';
import type { App } from '../context.ts';
import { homeFigures } from '../dashboard/home-figures.ts';
import { enqueueMails } from '../enqueue-mail.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Minimum time between two immediate mails to a person; later items are batched, so that a storm is a few mails. */
const MIN_BETWEEN_MS = 10 * MINUTE_MS;
/** The maximum number of items of each project that a mail names. */
const MAX_NAMED = 20;
const MAX_PROJECTS = 20;
/** A summary that could not be sent by then is useless. */
const PATIENCE_MS = DAY_MS;

/** Mails newly noticed items to the people who want them. Only for live mode: test payments alarm nobody. */
export async function enqueueNotices(app: App): Promise<void> {
  if (app.sendsMail !== true) return;
  const readers = await mailReaders(app.db);
  const open = (await openNoticedItems(app.db)).filter(({ mode }) => mode === 'live');
  const now = app.clock();
  for (const reader of readers) {
    if (isAttentionDue(reader, open, now)) await enqueueAttention(app, reader);
    if (weekDue(reader, now) !== null) await enqueueWeek(app, reader);
  }
}

/** Whether it is time to look for items that were not yet mailed to a person. */
function isAttentionDue({ choices, memberships }: MailReader, open: readonly NoticedItem[], now: number): boolean {
  if (choices.attention === 'off') return false;
  if (choices.attention === 'daily')
    return isTimeOf(zoneOf(choices), now) && choices.dailyMade !== dayAt(zoneOf(choices), now);
  const isRested = now - (choices.attentionMailedAt ?? -Infinity) >= MIN_BETWEEN_MS;
  return isRested && open.some((one) => one.id > choices.attentionSeen && isFor(memberships, one));
}

/** Whether the hour of mails has come today in the zone. */
function isTimeOf(zone: string, now: number): boolean {
  return hourAt(zone, now) >= MAIL_HOUR;
}

function isFor(memberships: MailReader['memberships'], { kind, projectId }: NoticedItem): boolean {
  return isInAttentionMails(kind) && mayDo(roleIn(memberships, projectId), actionOfAttention(kind));
}

/**
 * Enqueues one mail with all items that are new to a person. A person who changes between daily and immediate mails
 * misses nothing.
 */
function enqueueAttention(app: App, { id, memberships }: MailReader): Promise<void> {
  return app.db.transaction().execute(async (trx) => {
    const choices = await lockChoices(trx, id);
    const open = (await openNoticedItems(trx)).filter(({ mode }) => mode === 'live');
    const now = app.clock();
    if (!isAttentionDue({ id, email: '', memberships, choices }, open, now)) return;
    const fresh = open.filter((one) => one.id > choices.attentionSeen && isFor(memberships, one));
    const newest = open.at(-1)?.id ?? choices.attentionSeen;
    const isDaily = choices.attention === 'daily';
    if (fresh.length > 0) {
      const content: MailContent = { kind: 'attention', isDaily, projects: await sectionsOf(trx, fresh) };
      await enqueueMails(app, trx, [id], { mailKey: `attention ${newest}`, content });
    }
    await saveChoices(trx, id, {
      ...choices,
      attentionSeen: newest > choices.attentionSeen ? newest : choices.attentionSeen,
      ...(fresh.length > 0 ? { attentionMailedAt: now } : {}),
      ...(isDaily ? { dailyMade: dayAt(zoneOf(choices), now) } : {}),
    });
  });
}

async function sectionsOf(trx: Trx, fresh: readonly NoticedItem[]): Promise<readonly AttentionSection[]> {
  const names = new Map((await listProjects(trx)).map(({ id, name }) => [id, name]));
  return [...Map.groupBy(fresh, ({ projectId }) => projectId)].slice(0, MAX_PROJECTS).map(([id, items]) => ({
    project: { id, name: names.get(id) ?? '' },
    items: mostUrgent(items),
    more: Math.max(0, items.length - MAX_NAMED),
  }));
}

function mostUrgent(items: readonly NoticedItem[]): readonly AttentionFact[] {
  const urgency = ({ kind }: NoticedItem): number => ATTENTION_KINDS.indexOf(kind);
  return items
    .toSorted((a, b) => urgency(a) - urgency(b))
    .slice(0, MAX_NAMED)
    .map(({ kind, name, amount, detail }) => ({ kind, name, amount, detail }));
}

/** The days of the summary that is due to a person, in their zone; null if none is due. */
function weekDue(
  { choices, memberships }: MailReader,
  now: number,
): { readonly from: string; readonly to: string } | null {
  const { weeklyOn } = choices;
  const zone = zoneOf(choices);
  if (weeklyOn === null || memberships.length === 0) return null;
  const today = dayAt(zone, now);
  const weekday = new Date(`${today}T00:00:00Z`).getUTCDay() || 7;
  const since = (weekday - weeklyOn + 7) % 7;
  const day = dayAfter(today, -since);
  // If the service was down on the day of the summary, it comes on a later day. Choices saved by older versions have no
  // day.
  const isMade = choices.weeklyMade === null ? since > 0 : choices.weeklyMade >= day;
  if (isMade || (since === 0 && !isTimeOf(zone, now))) return null;
  return { from: dayAfter(day, -7), to: dayAfter(day, -1) };
}

async function enqueueWeek(app: App, reader: MailReader): Promise<void> {
  const { id, memberships, choices } = reader;
  const days = weekDue(reader, app.clock());
  if (days === null) return;
  const open = await openNoticedItems(app.db);
  const projects = (await listProjects(app.db)).filter(
    (project) => project.active && mayDo(roleIn(memberships, project.id), 'read_payments'),
  );
  const sections: WeekSection[] = [];
  for (const { id: projectId, name, defaultCurrency } of projects.slice(0, MAX_PROJECTS)) {
    const figures = await homeFigures(
      app,
      { projectId, mode: 'live' },
      { ...days, zone: zoneOf(choices) },
      defaultCurrency ?? 'USD',
    );
    const mine = open.filter(
      (one) =>
        one.projectId === projectId &&
        one.mode === 'live' &&
        mayDo(roleIn(memberships, projectId), actionOfAttention(one.kind)),
    );
    const both = <Value>({ value, before }: { readonly value: Value; readonly before: Value }) =>
      [value, before] as const;
    const { currency, value, created, completed, conversion } = figures;
    sections.push({
      project: { id: projectId, name },
      currency,
      minor: [String(value.value), String(value.before)] as const,
      created: both(created),
      completed: both(completed),
      conversion: both(conversion),
      attention: mostUrgent(mine),
      more: Math.max(0, mine.length - MAX_NAMED),
    });
  }
  await app.db.transaction().execute(async (trx) => {
    const saved = await lockChoices(trx, id);
    const due = weekDue({ ...reader, choices: saved }, app.clock());
    if (due === null || due.from !== days.from) return;
    if (sections.length > 0) {
      const content: MailContent = { kind: 'weekly', ...days, projects: sections };
      await enqueueMails(app, trx, [id], { mailKey: `weekly ${days.from}`, content, patienceMs: PATIENCE_MS });
    }
    await saveChoices(trx, id, { ...saved, weeklyMade: dayAfter(days.to) });
  });
}
