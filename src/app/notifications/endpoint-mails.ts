import type { MailContent, SavedMail } from '../../domain/mail-content.ts';
import { faultyEndpoints } from '../../store/figures/attention.ts';
import { endpointNoticedItems, markMailed, type NoticedItem } from '../../store/figures/noticed-items.ts';
import { recipientsOf, mailReaders } from '../../store/people/mails.ts';
import { listProjects } from '../../store/projects/projects.ts';
import { findEndpoints } from '../../store/webhooks/webhook-endpoints.ts';
import type { App } from '../context.ts';
import { enqueueMails, readersWho } from '../enqueue-mail.ts';

const MINUTE_MS = 60_000;
/** Mail an owner once deliveries have failed for this long, not for a short interruption; at most once an hour. */
const FAILING_FOR_MS = 5 * MINUTE_MS;
const MIN_BETWEEN_MS = 60 * MINUTE_MS;
/** Failures that ended longer ago than this are not reported, for example after the service was down. */
const MAX_AGE_MS = 24 * 60 * MINUTE_MS;

type State = Extract<MailContent, { readonly kind: 'endpoint' }>['state'];

/** Enqueues mails about a live endpoint that fails or is disabled, once per failure, and about its recovery. */
export async function enqueueEndpointMails(app: App): Promise<void> {
  if (app.sendsMail !== true) return;
  const now = app.clock();
  const all = await endpointNoticedItems(app.db, now - MAX_AGE_MS);
  const failing = all.filter((one) => isWorthMail(one, all, now));
  const isOpen = (subject: string): boolean => all.some((one) => one.subject === subject && one.endedAt === null);
  const over = all.filter((one) => one.endedAt !== null && one.mailedOverAt === null && !isOpen(one.subject));
  if (failing.length + over.length === 0) return;
  const [readers, projects] = await Promise.all([mailReaders(app.db), listProjects(app.db)]);
  const names = new Map(projects.map(({ id, name }) => [id, name]));
  const contentOf = (one: NoticedItem, state: State, at: number): SavedMail => ({
    kind: 'endpoint',
    state,
    project: { id: one.projectId, name: names.get(one.projectId) ?? '' },
    url: one.name,
    detail: one.detail,
    at,
  });
  const recovered = await recoveredOf(app, over);
  await app.db.transaction().execute(async (trx) => {
    for (const one of failing) {
      const people = readersWho(readers, one.projectId, 'read_developer').filter(({ choices }) => choices.endpoints);
      const content = contentOf(one, stateOf(one), one.noticedAt);
      const ids = people.map(({ id }) => id);
      await enqueueMails(app, trx, ids, { mailKey: mailKeyOf(one, stateOf(one)), content });
    }
    for (const one of recovered) {
      const people = await recipientsOf(trx, mailKeyOf(one, stateOf(one)));
      const content = contentOf(one, 'over', one.endedAt ?? now);
      await enqueueMails(app, trx, people, { mailKey: mailKeyOf(one, 'over'), content });
    }
    await markMailed(trx, idsOf(failing), 'mailedAt', now);
    await markMailed(trx, idsOf(over), 'mailedOverAt', now);
  });
}

const idsOf = (some: readonly NoticedItem[]): readonly bigint[] => some.map(({ id }) => id);
const stateOf = ({ kind }: NoticedItem): State => (kind === 'endpoint_disabled' ? 'disabled' : 'failing');
const mailKeyOf = ({ id }: NoticedItem, state: State): string => `endpoint ${id} ${state}`;

function isWorthMail(one: NoticedItem, all: readonly NoticedItem[], now: number): boolean {
  if (one.endedAt !== null || one.mailedAt !== null) return false;
  if (one.kind === 'endpoint_disabled') return true;
  const isRecent = all.some(
    ({ subject, mailedAt }) => subject === one.subject && mailedAt !== null && now - mailedAt < MIN_BETWEEN_MS,
  );
  return now - one.noticedAt >= FAILING_FOR_MS && !isRecent;
}

/** The last failure of each endpoint that works again, without deleted endpoints and failures marked as done. */
async function recoveredOf(app: App, over: readonly NoticedItem[]): Promise<readonly NoticedItem[]> {
  const last = [...new Map(over.map((one) => [one.subject, one])).values()];
  const there = await findEndpoints(
    app.db,
    last.map(({ subject }) => subject),
  );
  const projects = [...new Set(last.map(({ projectId }) => projectId))];
  const faulty = await Promise.all(projects.map((projectId) => faultyEndpoints(app.db, { projectId, mode: 'live' })));
  const stillFails = new Set(faulty.flat().map(({ id }) => id));
  return last.filter(({ subject }) => there.has(subject) && !stillFails.has(subject));
}
