import { closeLinks, findLink, useLink } from '../../store/people/sessions.ts';
import type { Trx } from '../../store/database.ts';
import {
  dropPendingEmail,
  findPersonByEmail,
  lockPeople,
  lockPerson,
  updatePerson,
  type Person,
} from '../../store/people/people.ts';
import { recordAudit } from '../audit.ts';
import { forActor, newId, type App } from '../context.ts';
import { enqueueMails } from '../enqueue-mail.ts';
import { rejected, type Rejected } from '../rejected.ts';
import { mailAccountChange } from './account-mail.ts';
import { judged, type TooMany } from './guess-limits.ts';
import type { PeopleParts } from './parts.ts';
import { actorOf, type SignedIn } from './sessions.ts';
import { tokenHash } from './token.ts';

/** A person who has not opened the link within a day asks for another one. */
const CONFIRMATION_PATIENCE_MS = 24 * 60 * 60_000;

const TAKEN = rejected('email_unusable', { param: 'email' });

/**
 * Changes the e-mail: at once if no mails are sent, otherwise when the new address confirms it. The address of another
 * person is refused without saying so, and counts as a wrong guess, as does every mail to an address.
 */
export async function changeEmail(
  { app, limits }: Pick<PeopleParts, 'app' | 'limits'>,
  { person }: SignedIn,
  email: string,
): Promise<{ readonly kind: 'done'; readonly person: Person } | Rejected | TooMany> {
  const guess = [{ bucket: 'email-person', id: person.id } as const];
  const asks = app.sendsMail === true && email.toLowerCase() !== person.email.toLowerCase();
  const change = () =>
    app.db.transaction().execute(async (trx) => {
      await lockPeople(trx);
      if (await isTaken(trx, person, email)) return TAKEN;
      // The links of earlier requests expire.
      await closeLinks(trx, person.id, app.clock());
      await (asks ? askNewAddress(app, trx, person, email) : saveEmail(app, trx, person, email));
      const changed = asks ? { pendingEmail: email } : { email, pendingEmail: null };
      return { kind: 'done', person: { ...person, ...changed } } as const;
    });
  return judged(limits, guess, change, ({ kind }) => kind === 'done' && !asks);
}

/** Makes the address of a mail's link the person's, for the holder of the link. Signs nobody in. */
export function confirmEmail(app: App, token: string, ip: string): Promise<{ readonly kind: 'done' | 'closed' }> {
  const hash = tokenHash(token);
  if (hash === null) return Promise.resolve({ kind: 'closed' });
  return app.db.transaction().execute(async (trx) => {
    await lockPeople(trx);
    const link = await findLink(trx, hash);
    if (link?.purpose !== 'email' || link.personId === null) return { kind: 'closed' };
    const person = await lockPerson(trx, link.personId);
    const email = person?.pendingEmail ?? null;
    if (person === null || person.deactivatedAt !== null || email === null) return { kind: 'closed' };
    if (await isTaken(trx, person, email)) {
      await closeLinks(trx, person.id, app.clock());
      await updatePerson(trx, person.id, { pendingEmail: null });
      return { kind: 'closed' };
    }
    if (!(await useLink(trx, hash, app.clock()))) return { kind: 'closed' };
    await saveEmail(forActor(app, actorOf(person, ip), app.requestId), trx, person, email);
    return { kind: 'done' };
  });
}

async function isTaken(trx: Trx, { id }: Person, email: string): Promise<boolean> {
  const owner = await findPersonByEmail(trx, email);
  return owner !== null && owner.id !== id;
}

async function askNewAddress(app: App, trx: Trx, person: Person, email: string): Promise<void> {
  await updatePerson(trx, person.id, { pendingEmail: email });
  await auditEmail(app, trx, 'person.email_ask', person, email);
  await mailAccountChange(app, trx, person, 'email_asked', email);
  await enqueueMails(app, trx, [person.id], {
    mailKey: `email ${newId(app, app.clock())}`,
    content: { kind: 'email', address: email },
    patienceMs: CONFIRMATION_PATIENCE_MS,
  });
}

async function saveEmail(app: App, trx: Trx, person: Person, email: string): Promise<void> {
  await dropPendingEmail(trx, email);
  await updatePerson(trx, person.id, { email, pendingEmail: null });
  await auditEmail(app, trx, 'person.email', person, email);
  await mailAccountChange(app, trx, person, 'email', email);
}

function auditEmail(app: App, trx: Trx, action: string, person: Person, email: string): Promise<void> {
  const subject = { kind: 'person', id: person.id };
  return recordAudit(app, trx, { action, projectId: null, subject, before: { email: person.email }, after: { email } });
}
