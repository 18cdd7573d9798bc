import type { Membership, Role } from '../../domain/role.ts';
import { closeLinks } from '../../store/account-links.ts';
import type { Trx } from '../../store/database.ts';
import { deletePasskeys, replaceRecoveryCodes } from '../../store/factors.ts';
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
} from '../../store/people.ts';
import { findProject } from '../../store/projects.ts';
import { deleteSessions } from '../../store/sessions.ts';
import { forgetKnownBrowsers } from '../../store/sign-ins.ts';
import { recordAudit } from '../audit.ts';
import { newId, type App } from '../context.ts';
import { noProject, rejected, type Rejected } from '../rejected.ts';
import { newLink, type NewLink } from './links.ts';

/** With the roles that the person has from now on: one that was given before, for a project alone, still stands. */
type WithRoles<More = object> = Done<{ readonly memberships: readonly Membership[] } & More>;
type Done<More = object> = ({ readonly kind: 'done'; readonly person: Person } & More) | Rejected;

export function peopleOf(app: App): Promise<readonly Member[]> {
  return listMembers(app.db);
}

/** By id; null for nobody. */
export async function memberOf(app: App, id: string): Promise<Member | null> {
  return (await listMembers(app.db)).find((one) => one.id === id) ?? null;
}

/**
 * Invites somebody by a link, with a role in one project or with null in all; or again, where no password was set yet.
 */
export function invitePerson(
  app: App,
  siteUrl: string,
  request: { readonly email: string; readonly role: Role; readonly projectId: string | null },
): Promise<WithRoles<{ readonly link: NewLink }>> {
  const { email, role, projectId } = request;
  return app.db.transaction().execute(async (trx) => {
    await lockPeople(trx);
    if (projectId !== null && (await findProject(trx, projectId)) === null) return noProject(projectId);
    const found = await findPersonByEmail(trx, email);
    if (found !== null && found.deactivatedAt === null && found.passwordHash !== null) {
      return rejected(
        `${found.email} has an account already. Give another role with: cointill user role ${found.email} --role ROLE. A new link, with a new password: cointill user reset ${found.email}`,
      );
    }
    // Who was reset and is invited anew may be the last owner still.
    const keeps = projectId !== null || role === 'owner' || found === null;
    if (!keeps && (await isLastOwner(trx, found, await membershipsOf(trx, found.id)))) return LAST_OWNER;
    const now = app.clock();
    const id = found?.id ?? newId(app, now);
    if (found === null) await insertPerson(trx, { id, email, createdAt: now });
    // Who was deactivated comes back with nothing that was known of before.
    else if (found.deactivatedAt !== null) await forget(trx, id);
    await closeLinks(trx, id, now);
    const before = await membershipsOf(trx, id);
    await setMembership(trx, { id: newId(app, now), personId: id, projectId, role, now });
    await recordAudit(app, trx, {
      action: 'person.invite',
      projectId,
      subject: { kind: 'person', id },
      before: found === null ? null : { roles: rolesText(before) },
      after: { email: found?.email ?? email, role },
    });
    const link = await newLink(app, trx, siteUrl, 'invitation', id);
    return { kind: 'done', person: await required(trx, id), memberships: await membershipsOf(trx, id), link };
  });
}

/** Takes the person's password, second factor, sessions and roles away. */
async function forget(trx: Trx, id: string): Promise<void> {
  await takeFactors(trx, id);
  await updatePerson(trx, id, { passwordHash: null, deactivatedAt: null });
  await deleteMemberships(trx, id);
}

async function takeFactors(trx: Trx, id: string): Promise<void> {
  await updatePerson(trx, id, { sealedTotp: null, sealedPendingTotp: null });
  await deletePasskeys(trx, id);
  await replaceRecoveryCodes(trx, id, []);
  await deleteSessions(trx, id);
  await forgetKnownBrowsers(trx, id);
}

/** A new link for a new password. All sessions end, and the second factor is removed. */
export function resetPerson(app: App, siteUrl: string, who: Who): Promise<Done<{ readonly link: NewLink }>> {
  return withPerson(app, who, async (trx, person) => {
    if (person.deactivatedAt !== null) {
      return rejected(
        `${person.email} is deactivated. Invite them again with: cointill user invite --email ${person.email} --role ROLE`,
      );
    }
    await takeFactors(trx, person.id);
    // The old password is worth nothing from now on: whoever is reset may have lost it to somebody.
    await updatePerson(trx, person.id, { passwordHash: null });
    await closeLinks(trx, person.id, app.clock());
    await recordAudit(app, trx, {
      action: 'person.reset',
      projectId: null,
      subject: { kind: 'person', id: person.id },
      after: { email: person.email },
    });
    const link = await newLink(app, trx, siteUrl, 'reset', person.id);
    return { kind: 'done', person: await required(trx, person.id), link };
  });
}

/** How a person is named: by e-mail at the command line, by id elsewhere. */
export type Who = { readonly email: string } | { readonly id: string };

const LAST_OWNER: Rejected = {
  kind: 'rejected',
  message:
    'This is the last owner of all projects, and somebody must be. Make another person owner first, with: cointill user role EMAIL --role owner',
};

/** Ends the person's sessions and lets them in no more; the last owner is refused. */
export function deactivatePerson(app: App, who: Who): Promise<Done> {
  return withPerson(app, who, async (trx, person) => {
    const memberships = await membershipsOf(trx, person.id);
    if (await isLastOwner(trx, person, memberships)) return LAST_OWNER;
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
 * Sets a person's role in a project, or with null in all; a null role takes it away. The last owner of all projects
 * stays that.
 */
export function setRole(
  app: App,
  who: Who,
  request: { readonly role: Role | null; readonly projectId: string | null },
): Promise<WithRoles> {
  const { role, projectId } = request;
  return withPerson(app, who, async (trx, person) => {
    if (projectId !== null && (await findProject(trx, projectId)) === null) return noProject(projectId);
    const before = await membershipsOf(trx, person.id);
    const losesOwner = projectId === null && role !== 'owner';
    if (losesOwner && (await isLastOwner(trx, person, before))) return LAST_OWNER;
    const now = app.clock();
    const roleBefore = before.find((one) => one.projectId === projectId)?.role ?? null;
    // Nothing is taken away, nothing to keep.
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

/** Whether nobody but this person, who has an account, could run the service. An invitation is nobody yet. */
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
    // Two owners who take each other's role at once would leave none.
    await lockPeople(trx);
    const id = 'id' in who ? who.id : ((await findPersonByEmail(trx, who.email))?.id ?? null);
    const person = id === null ? null : await lockPerson(trx, id);
    if (person === null) {
      const message =
        'email' in who
          ? `Nobody here has the e-mail ${who.email}. List everybody with: cointill user list`
          : 'There is no such person.';
      return { ...rejected(message), of: 'person' };
    }
    return work(trx, person);
  });
}

async function required(trx: Trx, id: string): Promise<Person> {
  const person = await lockPerson(trx, id);
  if (person === null) throw new Error('The person that was just saved is not there.');
  return person;
}
