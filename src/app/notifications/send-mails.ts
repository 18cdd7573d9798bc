import { actionOfAttention } from '../../domain/attention.ts';
import type { AttentionFact, MailContent, SavedMail } from '../../domain/mail-content.ts';
import { zoneOf, type Notification } from '../../domain/notification.ts';
import { mayDo, roleIn, type Role } from '../../domain/role.ts';
import type { Problems } from '../../domain/problems.ts';
import type { DocumentRenderer } from '../../documents/renderer.ts';
import { composeMail } from '../../mail/compose.ts';
import { messageIdOf, type Mail, type MailSender, type SendOutcome } from '../../mail/send.ts';
import {
  claimMails,
  endMail,
  hasNewerInvitation,
  insertUnsubscribe,
  retryMail,
  type DueMail,
  type DuePersonMail,
  findChoices,
  NOTHING_SAVED,
  type SavedChoices,
} from '../../store/people/mails.ts';
import { choicesFor } from '../../store/people/project-choices.ts';
import { findPerson, lockPerson, membershipsOf, type Person } from '../../store/people/people.ts';
import type { App } from '../context.ts';
import { newLink } from '../people/links.ts';
import { withFacts } from './payment-facts.ts';
import { prepareForBuyer } from './invoice-mails.ts';
import { prepareForCustomer } from './customer-mails.ts';
import { hashOf, newToken } from '../people/token.ts';

/** The result of an attempt; `unsent`: the server was not asked. */
type Attempted = 'worked' | 'failed' | 'unsent';

/** The means to send mails. */
export interface Mailing {
  readonly sender: MailSender;
  /** The sender's address. */
  readonly from: string;
  /** The dashboard's URL, without a trailing slash. */
  readonly siteUrl: string;
  /** Renders the invoices of mails. */
  readonly renderer: DocumentRenderer;
  readonly problems: Problems;
}

export interface Mailer {
  /** Sends due mails. Returns true if there may be more. */
  sendDue(): Promise<boolean>;
  /** The problem with the mail server in plain words; null if none is known. */
  problem(): string | null;
}

/**
 * Longer than sending one person's mails of a batch in turn, so that two processes never send the same mail at once.
 */
const LEASE_MS = 11 * 60_000;
const BATCH = 5;
const MINUTE_MS = 60_000;
/** Delays between attempts; the last one repeats. */
const RETRY_MS = [1, 5, 15, 60, 120, 240].map((minutes) => minutes * MINUTE_MS);
/** A server that accepts nothing is asked again after this time, even if mails are due. */
const REST_MS = 30_000;
const SUBJECT = 'mail server';

/**
 * Sends the saved mails of all processes. A mail is sent again only if its attempt failed, or if the process ended
 * between the server's answer and its record; then the mail has the same Message-ID.
 */
export function createMailer(app: App, mailing: Mailing): Mailer {
  let problem: string | null = null;
  let isChecked = false;
  /** Stays true until a mail is accepted: connecting and signing in say nothing about the sender. */
  let isSenderRefused = false;
  let notBefore = -Infinity;
  const { problems, sender } = mailing;

  const attempt = async (due: DueMail): Promise<Attempted> => {
    let mail: Mail | null;
    try {
      mail = await prepare(app, mailing, due);
    } catch (error) {
      // For example, a mail saved by a later version: the person's other mails do not wait for it.
      const text = error instanceof Error ? error.message : String(error);
      await putOff(app, problems, due, { problem: `The mail cannot be composed: ${text}.`, isFinal: false });
      return 'unsent';
    }
    if (mail === null) {
      await endMail(app.db, due, { outcome: 'dropped', problem: null, at: app.clock() });
      return 'unsent';
    }
    const outcome = await sendAs(sender, mail);
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

  /** Checks the server at the start and while there is a problem, so that a wrong setting delays no mail. */
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
      // Mails to one person are sent one after another, so that they arrive in order.
      const byPerson = Map.groupBy(due, ({ personId, paymentId, requestId }) => personId ?? paymentId ?? requestId);
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

/**
 * Sends a mail. What the server refuses from a project's own address is sent from `MAIL_FROM`, and replies go to the
 * project's: servers name a sender that they do not take in their answer to the recipient.
 */
async function sendAs(sender: MailSender, mail: Mail): Promise<SendOutcome> {
  const outcome = await sender.send(mail);
  const own = mail.from?.address ?? null;
  const isRefused = outcome.kind === 'refused' || (outcome.kind === 'failed' && outcome.isOfSender);
  if (mail.from === undefined || own === null || !isRefused) return outcome;
  return sender.send({ ...mail, from: { ...mail.from, address: null }, replyTo: mail.replyTo ?? own });
}

/** Schedules the next attempt of a mail, or gives the mail up. */
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
  const details = { mail: due.id, kind: due.content.kind, ...recipientOf(due), attempts: due.attempts };
  problems.happened('mail', `A mail will not be sent again. ${problem}`, details);
}

function recipientOf({ personId, paymentId, requestId }: DueMail): Readonly<Record<string, string>> {
  if (personId !== null) return { person: personId };
  return paymentId === null ? { payment_request: requestId } : { payment: paymentId };
}

async function inOrder<Item, Result>(
  items: readonly Item[],
  run: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(await run(item));
  return results;
}

/** Composes the mail for sending now; null if the recipient no longer wants it or may no longer read it. */
function prepare(app: App, mailing: Mailing, due: DueMail): Promise<Mail | null> {
  if (due.personId !== null) return prepareForPerson(app, mailing, due);
  if (due.paymentId !== null) return prepareForCustomer(app, mailing, due);
  return prepareForBuyer({ app, renderer: mailing.renderer }, mailing.from, due);
}

async function prepareForPerson(app: App, { from, siteUrl }: Mailing, due: DuePersonMail): Promise<Mail | null> {
  const { personId } = due;
  const person = await findPerson(app.db, personId);
  if (person === null || person.deactivatedAt !== null) return null;
  const choices = (await findChoices(app.db, personId)) ?? NOTHING_SAVED;
  const saved = await readable(app, person, choices, due);
  const content = saved && (await withFacts(app.db, saved));
  if (content === null) return null;
  const links = await linksOf(app, siteUrl, personId, content);
  if (links === null) return null;
  const language = choices.language ?? (content.kind === 'invitation' ? content.language : null) ?? 'en';
  const composed = composeMail(content, { language, zone: zoneOf(choices), siteUrl, ...links });
  const to = 'address' in content ? content.address : person.email;
  return { messageId: messageIdOf(due.id, from), to, unsubscribeUrl: links.unsubscribeUrl, ...composed };
}

/** The part of a mail that its person wants and may read now; null if nothing is left. */
async function readable(
  app: App,
  person: Person,
  choices: SavedChoices,
  due: DuePersonMail,
): Promise<SavedMail | null> {
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
    case 'payment':
    case 'payments_daily':
    case 'monthly':
    case 'refund': {
      const { id } = content.project;
      const chosen = await choicesFor(app.db, person.id, id);
      const isOn = { payment: chosen.payments !== 'off', payments_daily: chosen.payments !== 'off', ...chosen };
      const isWanted = content.kind === 'refund' ? isOn.refunds : isOn[content.kind];
      return isWanted && mayDo(roleOf(id), 'read_payments') ? content : null;
    }
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

/** The facts that the person's present role may see. */
function visibleFacts(facts: readonly AttentionFact[], role: Role | null): readonly AttentionFact[] {
  return facts.filter(({ kind }) => mayDo(role, actionOfAttention(kind)));
}

const NOTIFICATION_OF: Readonly<Partial<Record<MailContent['kind'], Notification>>> = {
  endpoint: 'endpoints',
  attention: 'attention',
  weekly: 'weekly',
  payment: 'payments',
  payments_daily: 'payments',
  refund: 'refunds',
  monthly: 'monthly',
};

/**
 * Makes new links for one attempt; null if nothing is left to confirm. Links of a failed attempt stay valid, because
 * the mail may have arrived nevertheless.
 */
function linksOf(
  app: App,
  siteUrl: string,
  personId: string,
  content: MailContent,
): Promise<{ readonly link: string | null; readonly unsubscribeUrl: string | null } | null> {
  const { kind } = content;
  return app.db.transaction().execute(async (trx) => {
    // The lock keeps an address's link from outliving a request for another address.
    if (kind === 'email' && (await lockPerson(trx, personId))?.pendingEmail !== content.address) return null;
    if (kind === 'invitation' || kind === 'email') {
      const { url } = await newLink(app, trx, siteUrl, kind, personId);
      return { link: url, unsubscribeUrl: null };
    }
    const notification = NOTIFICATION_OF[kind];
    if (notification === undefined) return { link: null, unsubscribeUrl: null };
    const token = newToken(app.random);
    const projectId = 'project' in content && kind !== 'endpoint' ? content.project.id : null;
    await insertUnsubscribe(trx, hashOf(token), { personId, notification, projectId, now: app.clock() });
    return { link: null, unsubscribeUrl: `${siteUrl}/dashboard/unsubscribe/${token}` };
  });
}
