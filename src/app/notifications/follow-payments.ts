import type { RefundState, SavedMail } from '../../domain/mail-content.ts';
import type { EventType } from '../../domain/event-type.ts';
import { stepEvents } from '../../domain/payment-kind.ts';
import type { Trx } from '../../store/database.ts';
import { transitionsNow } from '../../store/figures/figure-slots.ts';
import {
  beginMailProgress,
  completionsAfter,
  eventsSince,
  findMailProgress,
  lockMailProgress,
  newestTransition,
  saveMailProgress,
  type Completion,
  type FollowedEvent,
} from '../../store/payments/completed-payments.ts';
import { insertMails, keysOfMails, type NewMail } from '../../store/people/mails.ts';
import { eventFacts } from '../../wire/event.ts';
import { decodeId } from '../../domain/id.ts';
import { newId, type App } from '../context.ts';
import { PATIENCE_MS } from '../enqueue-mail.ts';
import { projectReaders, type ProjectReader } from './project-readers.ts';
import { customerMailShops, type CustomerMailShops } from './customer-mail-shops.ts';

/** The number of transitions that a round reads at most. */
const MAX_TRANSITIONS = 1_000;
/**
 * Events are found by their ids, which a process makes by its own clock before it saves them. An event is found if it
 * is saved within this time of that, however late the round is.
 */
const EVENTS_OVERLAP_MS = 60 * 60_000;
/** How often refunds are looked for. */
const EVENTS_REST_MS = 5_000;

const REFUND_STATES: Readonly<Partial<Record<EventType, RefundState>>> = {
  'refund.created': 'created',
  'refund.completed': 'completed',
  'refund.failed': 'failed',
};
const REFUND_EVENTS = Object.keys(REFUND_STATES) as readonly EventType[];

/**
 * Makes the mails about completed payments and about refunds, after these were saved: it reads the log of transitions
 * and the events, so that payments never wait for it. Mails and the new place in the log are saved in one transaction,
 * so that none is lost or made twice. One process at a time does this; the others return. Returns true if there is
 * more.
 */
export async function followPayments(app: App): Promise<boolean> {
  if (app.sendsMail !== true) return false;
  const now = app.clock();
  const [progress, newest] = await Promise.all([findMailProgress(app.db), newestTransition(app.db)]);
  // A clock that was put back is behind the last round.
  const isRested = Math.abs(now - (progress?.eventsUntil ?? 0)) >= EVENTS_REST_MS;
  if (progress !== null && progress.takenIn === newest && !isRested) return false;
  return app.db.transaction().execute(async (trx) => {
    if (progress === null) {
      await beginMailProgress(trx, newest, now);
      return false;
    }
    const locked = await lockMailProgress(trx);
    return locked === null ? false : round(app, trx, locked, now);
  });
}

async function round(
  app: App,
  trx: Trx,
  progress: NonNullable<Awaited<ReturnType<typeof lockMailProgress>>>,
  now: number,
): Promise<boolean> {
  const { newest, oldestXid, ownXid } = await transitionsNow(trx);
  const [readers, shops] = await Promise.all([projectReaders(trx), customerMailShops(trx)]);
  // Each transaction that may still save an id up to the noted one began before the round after that was noted.
  const endedBefore = progress.newest > progress.takenIn ? (progress.endedBefore ?? ownXid) : null;
  const isSaved = endedBefore !== null && oldestXid >= endedBefore;
  let { takenIn } = progress;
  if (isSaved) {
    const read = await completionsAfter(trx, { after: takenIn, upTo: progress.newest, limit: MAX_TRANSITIONS });
    takenIn = read.upTo;
    await save(
      app,
      trx,
      [...completionMails(readers, read.completions, now), ...receipts(shops, read.completions, now)],
      now,
    );
  }
  const areEventsDue = now - progress.eventsUntil >= EVENTS_REST_MS || now < progress.eventsUntil;
  if (areEventsDue) {
    const since = Math.min(now, progress.eventsUntil) - EVENTS_OVERLAP_MS;
    await save(app, trx, await refundMails(trx, readers, since, now), now);
    await save(app, trx, await customerEventMails(trx, shops, since, now), now);
  }
  const hasMore = takenIn < progress.newest;
  await saveMailProgress(trx, {
    takenIn,
    ...(hasMore ? { newest: progress.newest, endedBefore } : { newest, endedBefore: null }),
    eventsUntil: areEventsDue ? now : progress.eventsUntil,
  });
  return isSaved && hasMore;
}

type Without<Mail, Fields extends PropertyKey> = Mail extends unknown ? Omit<Mail, Fields> : never;
type Draft = Without<NewMail, 'id' | 'giveUpAt'>;

async function save(app: App, trx: Trx, drafts: readonly Draft[], now: number): Promise<void> {
  const mails = drafts.map((draft) => ({ ...draft, id: newId(app, now), giveUpAt: now + PATIENCE_MS }));
  await insertMails(trx, mails, now);
}

/** One mail for each payment and each person who wants to know at once. A service that was away skips the oldest. */
function completionMails(
  readers: readonly ProjectReader[],
  completions: readonly Completion[],
  now: number,
): readonly Draft[] {
  return completions.flatMap(({ paymentId, projectId, mode, at }): readonly Draft[] => {
    if (mode !== 'live' || at < now - PATIENCE_MS) return [];
    return readers
      .filter(({ project, choices }) => project.id === projectId && choices.payments === 'at_once')
      .filter(({ choices }) => at >= choices.paymentsSince)
      .map(({ personId, project }) => ({
        personId,
        mailKey: `payment ${paymentId}`,
        content: { kind: 'payment', project: { id: project.id, name: project.name }, paymentId },
      }));
  });
}

async function refundMails(
  trx: Trx,
  readers: readonly ProjectReader[],
  since: number,
  now: number,
): Promise<readonly Draft[]> {
  const wanting = readers.filter(({ choices }) => choices.refunds);
  const projects = [...new Set(wanting.map(({ project }) => project.id))];
  const scopes = projects.map((projectId) => ({ projectId, mode: 'live' }) as const);
  const events = await eventsSince(trx, scopes, REFUND_EVENTS, Math.max(since, now - PATIENCE_MS));
  const made = await keysOfMails(trx, events.map(keyOf));
  return events.flatMap((event) => {
    const content = (project: ProjectReader['project']) => refundContent(event, project);
    return wanting
      .filter(({ project, choices }) => project.id === event.projectId && event.createdAt >= choices.refundsSince)
      .filter(({ personId }) => !made.has(`${personId} ${keyOf(event)}`))
      .flatMap(({ personId, project }) => {
        const saved = content(project);
        return saved === null ? [] : [{ personId, mailKey: keyOf(event), content: saved }];
      });
  });
}

const keyOf = ({ id }: FollowedEvent): string => `event ${id}`;

function refundContent({ type, body }: FollowedEvent, { id, name }: ProjectReader['project']): SavedMail | null {
  const state = REFUND_STATES[type];
  const refundId = decodeId('refund', eventFacts(body).refund ?? '');
  return state === undefined || refundId === null ? null : { kind: 'refund', state, project: { id, name }, refundId };
}

/** The receipts of customers, of projects that send them. */
function receipts(shops: CustomerMailShops, completions: readonly Completion[], now: number): readonly Draft[] {
  return completions
    .filter(
      ({ at, isOfDocument, ...payment }) =>
        !isOfDocument && at >= now - PATIENCE_MS && shops.mayMail({ ...payment, at }),
    )
    .map(({ paymentId }) => ({ paymentId, mailKey: 'receipt', content: { kind: 'receipt' } }));
}

const CUSTOMER_EVENTS: readonly EventType[] = [...stepEvents('exception'), 'refund.created'];
/** The time in which a customer who pays in parts sends the next one. */
const PART_DELAY_MS = 3 * 60_000;

/** Mails to customers whose money is short, or who shall say where a refund goes. Sending checks whether it is so. */
async function customerEventMails(
  trx: Trx,
  shops: CustomerMailShops,
  since: number,
  now: number,
): Promise<readonly Draft[]> {
  const events = await eventsSince(trx, shops.scopes, CUSTOMER_EVENTS, Math.max(since, now - PATIENCE_MS));
  const fresh = events.filter(({ createdAt, ...event }) => shops.isSince({ ...event, at: createdAt }));
  const drafts = fresh.flatMap(({ type, paymentId, body }): readonly (Draft & { readonly paymentId: string })[] => {
    if (type !== 'refund.created') {
      const delayMs = PART_DELAY_MS;
      return [{ paymentId, mailKey: 'part_arrived', content: { kind: 'part_arrived' }, delayMs }];
    }
    const refundId = decodeId('refund', eventFacts(body).refund ?? '');
    if (refundId === null) return [];
    return [{ paymentId, mailKey: `refund ${refundId}`, content: { kind: 'refund_claim', refundId } }];
  });
  const made = await keysOfMails(
    trx,
    [...new Set(drafts.map(({ mailKey }) => mailKey))],
    fresh.map(({ paymentId }) => paymentId),
  );
  return drafts.filter(({ paymentId, mailKey }) => !made.has(`${paymentId} ${mailKey}`));
}
