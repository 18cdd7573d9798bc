import { actionOfAttention } from '../../domain/attention.ts';
import type { AttentionFact, MailContent } from '../../domain/mail-content.ts';
import { zoneOf, type Notification } from '../../domain/notification.ts';
import { mayDo, roleIn, type Role } from '../../domain/role.ts';
import type { Problems } from '../../domain/problems.ts';
import { composeMail } from '../../mail/compose.ts';
import { messageIdOf, type Mail, type MailSender } from '../../mail/send.ts';
import {
  claimMails,
  endMail,
  hasNewerInvitation,
  insertUnsubscribe,
  retryMail,
  type DueMail,
} from '../../store/people/mails.ts';
import { findChoices, NOTHING_SAVED, type SavedChoices } from '../../store/people/notification-choices.ts';
import { findPerson, lockPerson, membershipsOf, type Person } from '../../store/people/people.ts';
import type { App } from '../context.ts';
import { newLink } from '../people/links.ts';
import { hashOf, newToken } from '../people/token.ts';

/** What the mail server did; `unsent`: it was not asked. */
type Attempted = 'worked' | 'failed' | 'unsent';

/** What sends mails. */
export interface Mailing {
  readonly sender: MailSender;
  /** The sender's address. */
  readonly from: string;
  /** Where the dashboard is, without a trailing slash. */
  readonly siteUrl: string;
  readonly problems: Problems;
}

export interface Mailer {
  /** Sends what is due. True if there may be more. */
  sendDue(): Promise<boolean>;
  /** What is wrong with the mail server, in plain words; null: nothing is known to be. */
  problem(): string | null;
}

/** Longer than a person's mails of a batch take one after another, so that nothing is sent by two processes at once. */
const LEASE_MS = 6 * 60_000;
const BATCH = 5;
const MINUTE_MS = 60_000;
/** How long after each attempt the next one comes; the last one repeats. */
const RETRY_MS = [1, 5, 15, 60, 120, 240].map((minutes) => minutes * MINUTE_MS);
/** A server that takes nothing is asked again after this, whatever is due. */
const REST_MS = 30_000;
const SUBJECT = 'mail server';

/**
 * Sends the saved mails of all processes. A mail is sent again only if its attempt failed, or if the process ended
 * between the server's answer and the record of it; then it has the same Message-ID.
 */
export function createMailer(app: App, mailing: Mailing): Mailer {
  let problem: string | null = null;
  let isChecked = false;
  /** Until a mail is taken: connecting and logging in go well all the same. */
  let isSenderRefused = false;
  let notBefore = -Infinity;
  const { problems, sender } = mailing;

  const attempt = async (due: DueMail): Promise<Attempted> => {
    let mail: Mail | null;
    try {
      mail = await prepare(app, mailing, due);
    } catch (error) {
      // Such as one that a later version saved: the person's other mails do not wait for it.
      const text = error instanceof Error ? error.message : String(error);
      await putOff(app, problems, due, { problem: `It cannot be written: ${text}.`, isFinal: false });
      return 'unsent';
    }
    if (mail === null) {
      await endMail(app.db, due, { outcome: 'dropped', problem: null, at: app.clock() });
      return 'unsent';
    }
    const outcome = await sender.send(mail);
    if (outcome.kind === 'sent') {
      await endMail(app.db, due, { outcome: 'sent', problem: null, at: app.clock() });
      return 'worked';
    }
    if (outcome.kind === 'failed') {
      problem = outcome.problem;
      isSenderRefused = outcome.isOfSender;
      problems.failed(SUBJECT, problem);
    }
    await putOff(app, problems, due, { problem: outcome.problem, isFinal: outcome.kind === 'refused' });
    return outcome.kind === 'failed' ? 'failed' : 'worked';
  };

  /** At the start, so that a wrong setting is noticed before a mail is late by it, and while something is wrong. */
  const check = async (): Promise<void> => {
    problem = await sender.check();
    isChecked = true;
    notBefore = problem === null ? -Infinity : app.clock() + REST_MS;
    if (problem === null) problems.works(SUBJECT);
    else problems.failed(SUBJECT, problem);
  };

  return {
    problem: () => problem,
    sendDue: async () => {
      const now = app.clock();
      if (now < notBefore) return false;
      const due = await claimMails(app.db, { now, leaseUntil: now + LEASE_MS, limit: BATCH });
      if (due.length === 0 && !isSenderRefused && (problem !== null || !isChecked)) await check();
      // Each person's one after another, so that they arrive in the order of what they are about.
      const byPerson = Map.groupBy(due, ({ personId }) => personId);
      const outcomes = (await Promise.all([...byPerson.values()].map((own) => inOrder(own, attempt)))).flat();
      if (outcomes.includes('failed') && !outcomes.includes('worked')) {
        notBefore = app.clock() + REST_MS;
        return false;
      }
      if (outcomes.includes('worked')) {
        problem = null;
        isSenderRefused = false;
        problems.works(SUBJECT);
      }
      return due.length === BATCH;
    },
  };
}

/** Lets a mail wait for its next attempt, or gives it up. */
async function putOff(
  app: App,
  problems: Problems,
  due: DueMail,
  { problem, isFinal }: { readonly problem: string; readonly isFinal: boolean },
): Promise<void> {
  const at = app.clock();
  const next = at + (RETRY_MS[Math.min(due.attempts, RETRY_MS.length) - 1] ?? MINUTE_MS);
  if (!isFinal && next < due.giveUpAt) {
    await retryMail(app.db, due, next, problem);
    return;
  }
  await endMail(app.db, due, { outcome: isFinal ? 'refused' : 'given_up', problem, at });
  const details = { mail: due.id, kind: due.content.kind, person: due.personId, attempts: due.attempts };
  problems.happened('mail', `A mail is given up. ${problem}`, details);
}

async function inOrder<Item, Result>(
  items: readonly Item[],
  run: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(await run(item));
  return results;
}

/** The mail as it is sent now; null: nobody wants it any more, or may read it. */
async function prepare(app: App, { from, siteUrl }: Mailing, due: DueMail): Promise<Mail | null> {
  const { personId } = due;
  const person = await findPerson(app.db, personId);
  if (person === null || person.deactivatedAt !== null) return null;
  const choices = (await findChoices(app.db, personId)) ?? NOTHING_SAVED;
  const content = await readable(app, person, choices, due);
  if (content === null) return null;
  const links = await linksOf(app, siteUrl, personId, content);
  if (links === null) return null;
  const language = choices.language ?? (content.kind === 'invitation' ? content.language : null) ?? 'en';
  const composed = composeMail(content, { language, zone: zoneOf(choices), siteUrl, ...links });
  const to = 'address' in content ? content.address : person.email;
  return { messageId: messageIdOf(due.id, from), to, unsubscribeUrl: links.unsubscribeUrl, ...composed };
}

/** What of a mail its person wants and may read now; null: nothing. */
async function readable(app: App, person: Person, choices: SavedChoices, due: DueMail): Promise<MailContent | null> {
  const { content } = due;
  const memberships = await membershipsOf(app.db, person.id);
  const roleOf = (projectId: string) => roleIn(memberships, projectId);
  switch (content.kind) {
    case 'invitation': {
      const isOpen = person.passwordHash === null && memberships.length > 0;
      return isOpen && !(await hasNewerInvitation(app.db, due)) ? content : null;
    }
    case 'account':
    case 'email':
      return content;
    case 'wallet_changed':
      return choices.walletChanged && mayDo(roleOf(content.project.id), 'read_wallets') ? content : null;
    case 'endpoint':
      return choices.endpoints && mayDo(roleOf(content.project.id), 'read_developer') ? content : null;
    case 'attention': {
      const projects = content.projects
        .map((section) => ({ ...section, items: visibleFacts(section.items, roleOf(section.project.id)) }))
        .filter(({ items }) => items.length > 0);
      return choices.attention === 'off' || projects.length === 0 ? null : { ...content, projects };
    }
    case 'weekly': {
      const projects = content.projects
        .filter(({ project }) => mayDo(roleOf(project.id), 'read_payments'))
        .map((section) => ({ ...section, attention: visibleFacts(section.attention, roleOf(section.project.id)) }));
      return choices.weeklyOn === null || projects.length === 0 ? null : { ...content, projects };
    }
  }
}

/** What somebody may see with the role that they have now. */
function visibleFacts(facts: readonly AttentionFact[], role: Role | null): readonly AttentionFact[] {
  return facts.filter(({ kind }) => mayDo(role, actionOfAttention(kind)));
}

const NOTIFICATION_OF: Readonly<Partial<Record<MailContent['kind'], Notification>>> = {
  endpoint: 'endpoints',
  attention: 'attention',
  weekly: 'weekly',
};

/**
 * New links for one attempt; null: nothing is left to be confirmed. Those of an attempt that failed stay good: the mail
 * may have arrived all the same.
 */
function linksOf(
  app: App,
  siteUrl: string,
  personId: string,
  content: MailContent,
): Promise<{ readonly link: string | null; readonly unsubscribeUrl: string | null } | null> {
  const { kind } = content;
  return app.db.transaction().execute(async (trx) => {
    // The lock keeps the link of an address from outliving the request for another one.
    if (kind === 'email' && (await lockPerson(trx, personId))?.pendingEmail !== content.address) return null;
    if (kind === 'invitation' || kind === 'email') {
      const { url } = await newLink(app, trx, siteUrl, kind, personId);
      return { link: url, unsubscribeUrl: null };
    }
    const notification = NOTIFICATION_OF[kind];
    if (notification === undefined) return { link: null, unsubscribeUrl: null };
    const token = newToken(app.random);
    await insertUnsubscribe(trx, hashOf(token), { personId, notification, now: app.clock() });
    return { link: null, unsubscribeUrl: `${siteUrl}/dashboard/unsubscribe/${token}` };
  });
}
