import type { Membership, Role } from '../../domain/role.ts';
import { closeLinks, deleteSessions, forgetKnownBrowsers } from '../../store/people/sessions.ts';
import type { Trx } from '../../store/database.ts';
import { deletePasskeys, listPasskeys, replaceRecoveryCodes, requiresFactor } from '../../store/people/factors.ts';
import {
  deleteMemberships,
  findPersonByEmail,
  hasOtherOwner,
  insertPerson,
  listMembers,
  lockPeople,
  lockPerson,
  membershipsOf,
  setMembership,
  updatePerson,
  type Member,
  type Person,
} from '../../store/people/people.ts';
import { findProject } from '../../store/projects/projects.ts';
import { findChoices } from '../../store/people/mails.ts';
import { recordAudit } from '../audit.ts';
import { newId, type App } from '../context.ts';
import { enqueueMails } from '../enqueue-mail.ts';
import { noProject, rejected, type Rejected } from '../rejected.ts';
import { mailAccountChange } from './account-mail.ts';
import { newLink, type NewLink } from './links.ts';
import { personName } from './person-name.ts';

/** The result with all of the person's roles, including earlier ones in single projects. */
type WithRoles<More = object> = Done<{ readonly memberships: readonly Membership[] } & More>;
type Done<More = object> = ({ readonly kind: 'done'; readonly person: Person } & More) | Rejected;

export function peopleOf(app: App): Promise<readonly Member[]> {
  return listMembers(app.db);
}

/** Null if nobody has this id. */
export async function memberOf(app: App, id: string): Promise<Member | null> {
  return (await listMembers(app.db)).find((one) => one.id === id) ?? null;
}

/**
 * Invites a person by a link, with a role in one project or, if `projectId` is null, in all of them. People who have
 * not set a password yet can be invited again.
 */
export function invitePerson(
  app: App,
  siteUrl: string,
  request: {
    readonly email: string;
    readonly role: Role;
    readonly projectId: string | null;
    /** Absent: the person says it themselves. */
    readonly name?: string | undefined;
  },
): Promise<WithRoles<{ readonly link: NewLink; readonly isMailed: boolean }>> {
  const { email, role, projectId } = request;
  const name = request.name === undefined ? null : personName(request.name);
  if (name?.kind === 'rejected') return Promise.resolve(name);
  return app.db.transaction().execute(async (trx) => {
    await lockPeople(trx);
    const project = projectId === null ? null : await findProject(trx, projectId);
    if (projectId !== null && project === null) return { ...noProject(projectId), param: 'project' };
    const existing = await findPersonByEmail(trx, email);
    if (existing !== null && existing.deactivatedAt === null && existing.passwordHash !== null) {
      return rejected('has_account', { email: existing.email });
    }
    // After a reset, the last owner has no password and can be invited again.
    const keeps = projectId !== null || role === 'owner' || existing === null;
    if (!keeps && (await isLastOwner(trx, existing, await membershipsOf(trx, existing.id)))) {
      return rejected('last_owner');
    }
    const now = app.clock();
    const id = existing?.id ?? newId(app, now);
    if (existing === null) await insertPerson(trx, { id, email, createdAt: now });
    // A person who was deactivated starts afresh.
    else if (existing.deactivatedAt !== null) await forget(trx, id);
    if (name !== null) await updatePerson(trx, id, name.changes);
    await closeLinks(trx, id, now);
    const before = await membershipsOf(trx, id);
    await setMembership(trx, { id: newId(app, now), personId: id, projectId, role, now });
    await recordAudit(app, trx, {
      action: 'person.invite',
      projectId,
      subject: { kind: 'person', id },
      before: existing === null ? null : { roles: rolesText(before) },
      after: { email: existing?.email ?? email, role, ...name?.changes },
    });
    const link = await newLink(app, trx, siteUrl, 'invitation', id);
    await mailInvitation(app, trx, id, { role, project: project?.name ?? null });
    const memberships = await membershipsOf(trx, id);
    return { kind: 'done', person: await required(trx, id), memberships, link, isMailed: app.sendsMail === true };
  });
}

/** Enqueues the mail without its link, which is made when the mail is sent: links are never stored. */
async function mailInvitation(
  app: App,
  trx: Trx,
  personId: string,
  given: { readonly role: Role; readonly project: string | null },
): Promise<void> {
  if (app.sendsMail !== true) return;
  const { actor } = app;
  const by = actor?.kind === 'person' ? actor : null;
  // The invited person's language is unknown: most likely they speak the inviting person's.
  const language = by === null || by.id === null ? null : ((await findChoices(trx, by.id))?.language ?? null);
  await enqueueMails(app, trx, [personId], {
    mailKey: `invitation ${newId(app, app.clock())}`,
    content: { kind: 'invitation', by: by?.name ?? null, language, ...given },
    patienceMs: INVITATION_PATIENCE_MS,
  });
}

/** Invitation mails are not retried after a day: the link will have been passed on by hand. */
const INVITATION_PATIENCE_MS = 24 * 60 * 60_000;

/** Removes the person's name, password, second factors, sessions and roles. */
async function forget(trx: Trx, id: string): Promise<void> {
  await takeFactors(trx, id);
  await updatePerson(trx, id, { name: null, passwordHash: null, deactivatedAt: null });
  await deleteMemberships(trx, id);
}

async function takeFactors(trx: Trx, id: string): Promise<void> {
  await updatePerson(trx, id, { sealedTotp: null, sealedPendingTotp: null, pendingEmail: null });
  await deletePasskeys(trx, id);
  await replaceRecoveryCodes(trx, id, []);
  await deleteSessions(trx, id);
  await forgetKnownBrowsers(trx, id);
}

/**
 * Creates a link for setting a new password. All sessions end, and second factors are removed. In the dashboard nobody
 * can reset themselves or the last owner who can sign in: only the operator of the service can, who then gets the link.
 */
export function resetPerson(app: App, siteUrl: string, who: Who): Promise<Done<{ readonly link: NewLink }>> {
  return withPerson(app, who, async (trx, person) => {
    if (person.deactivatedAt !== null) return rejected('deactivated', { email: person.email });
    if (app.actor?.kind === 'person') {
      if (app.actor.id === person.id) return rejected('own_password');
      if (await isLastOwner(trx, person, await membershipsOf(trx, person.id))) return rejected('last_owner');
    }
    await takeFactors(trx, person.id);
    // Somebody else may know the old password.
    await updatePerson(trx, person.id, { passwordHash: null });
    await closeLinks(trx, person.id, app.clock());
    await recordAudit(app, trx, {
      action: 'person.reset',
      projectId: null,
      subject: { kind: 'person', id: person.id },
      after: { email: person.email },
    });
    if (person.joinedAt !== null) await mailAccountChange(app, trx, person, 'reset');
    const link = await newLink(app, trx, siteUrl, 'reset', person.id);
    return { kind: 'done', person: await required(trx, person.id), link };
  });
}

/**
 * Removes a person's second factors, for people who lost their phone and know their password. All sessions end, because
 * their users may not be the person who asked for this.
 */
export function removeSecondFactor(app: App, who: Who): Promise<Done> {
  return withPerson(app, who, async (trx, person) => {
    if (person.deactivatedAt !== null) return rejected('deactivated', { email: person.email });
    const passkeys = await listPasskeys(trx, person.id);
    if (person.sealedTotp === null && passkeys.length === 0) {
      return rejected('no_factor', { email: person.email });
    }
    if (app.actor?.id === person.id && (await requiresFactor(trx, person.id))) return rejected('last_factor');
    await takeFactors(trx, person.id);
    await recordAudit(app, trx, {
      action: 'person.remove_factors',
      projectId: null,
      subject: { kind: 'person', id: person.id },
      before: { totp: person.sealedTotp !== null, passkeys: passkeys.map(({ name }) => name) },
      after: { email: person.email },
    });
    await mailAccountChange(app, trx, person, 'factors_removed');
    return { kind: 'done', person: await required(trx, person.id) };
  });
}

/** Commands identify people by e-mail, the dashboard by id. */
export type Who = { readonly email: string } | { readonly id: string };

/** Ends the person's sessions and refuses any further sign-in. The last owner cannot be deactivated. */
export function deactivatePerson(app: App, who: Who): Promise<Done> {
  return withPerson(app, who, async (trx, person) => {
    const memberships = await membershipsOf(trx, person.id);
    if (await isLastOwner(trx, person, memberships)) return rejected('last_owner');
    if (person.deactivatedAt === null) {
      await updatePerson(trx, person.id, { deactivatedAt: app.clock() });
      await deleteSessions(trx, person.id);
      await forgetKnownBrowsers(trx, person.id);
      await closeLinks(trx, person.id, app.clock());
      await recordAudit(app, trx, {
        action: 'person.deactivate',
        projectId: null,
        subject: { kind: 'person', id: person.id },
        before: { roles: rolesText(memberships) },
        after: { email: person.email },
      });
    }
    return { kind: 'done', person: await required(trx, person.id) };
  });
}

/**
 * Sets a person's role in a project or, if `projectId` is null, in all of them; null removes the role. The last owner
 * of all projects cannot lose that role. `seen` is the role that the change began from: if the role has changed since,
 * the change is refused.
 */
export function setRole(
  app: App,
  who: Who,
  request: { readonly role: Role | null; readonly projectId: string | null; readonly seen?: Role | null | undefined },
): Promise<WithRoles> {
  const { role, projectId } = request;
  return withPerson(app, who, async (trx, person) => {
    if (projectId !== null && (await findProject(trx, projectId)) === null)
      return { ...noProject(projectId), param: 'project' };
    const before = await membershipsOf(trx, person.id);
    const roleBefore = before.find((one) => one.projectId === projectId)?.role ?? null;
    if (request.seen !== undefined && request.seen !== roleBefore) {
      const { email } = person;
      return roleBefore === null
        ? rejected('role_removed', { email })
        : rejected('role_changed', { email, role: roleBefore });
    }
    const losesOwner = projectId === null && role !== 'owner';
    if (losesOwner && (await isLastOwner(trx, person, before))) return rejected('last_owner');
    const now = app.clock();
    if (role === null && roleBefore === null) return { kind: 'done', person, memberships: before };
    await setMembership(trx, { id: newId(app, now), personId: person.id, projectId, role, now });
    await recordAudit(app, trx, {
      action: 'person.role',
      projectId,
      subject: { kind: 'person', id: person.id },
      before: { role: roleBefore },
      after: { email: person.email, role },
    });
    return { kind: 'done', person, memberships: await membershipsOf(trx, person.id) };
  });
}

const isOwner = (memberships: readonly Membership[]): boolean =>
  memberships.some(({ projectId, role }) => projectId === null && role === 'owner');

/** Whether this is the only owner of all projects who has an account. Open invitations do not count. */
async function isLastOwner(
  trx: Trx,
  { id, joinedAt, deactivatedAt }: Person,
  memberships: readonly Membership[],
): Promise<boolean> {
  if (joinedAt === null || deactivatedAt !== null || !isOwner(memberships)) return false;
  return !(await hasOtherOwner(trx, id));
}

const rolesText = (memberships: readonly Membership[]): readonly string[] =>
  memberships.map(({ projectId, role }) => `${role} of ${projectId ?? 'all projects'}`);

function withPerson<Result>(
  app: App,
  who: Who,
  work: (trx: Trx, person: Person) => Promise<Result | Rejected>,
): Promise<Result | Rejected> {
  return app.db.transaction().execute(async (trx) => {
    // Two owners who remove each other's role at the same time must not both succeed.
    await lockPeople(trx);
    const id = 'id' in who ? who.id : ((await findPersonByEmail(trx, who.email))?.id ?? null);
    const person = id === null ? null : await lockPerson(trx, id);
    if (person !== null) return work(trx, person);
    return 'email' in who ? rejected('no_email', { email: who.email }) : rejected('no_person', { param: 'id' });
  });
}

async function required(trx: Trx, id: string): Promise<Person> {
  const person = await lockPerson(trx, id);
  if (person === null) throw new Error('The person that was just saved is missing.');
  return person;
}
