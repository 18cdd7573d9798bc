import { mayDo, roleIn, type Action, type Role } from '../../domain/role.ts';
import { lacksFactor } from '../../store/people/factors.ts';
import { findPerson, membershipsOf } from '../../store/people/people.ts';
import { listSessions } from '../../store/people/sessions.ts';
import type { App } from '../context.ts';
import { idleEndsAt, type SignedIn } from './sessions.ts';

/**
 * The session's current role in the project, or in all projects if `projectId` is null. Null if the session has ended
 * or must add a second factor, or the role no longer permits the action. This check does not count as use of the
 * session, so that a forgotten tab keeps nobody signed in.
 */
export async function roleOfOpenSession(
  app: App,
  { session, person }: Pick<SignedIn, 'session' | 'person'>,
  projectId: string | null,
  action: Action,
): Promise<Role | null> {
  const [sessions, found, memberships, mustAddFactor] = await Promise.all([
    listSessions(app.db, person.id),
    findPerson(app.db, person.id),
    membershipsOf(app.db, person.id),
    lacksFactor(app.db, person.id),
  ]);
  const current = sessions.find(({ id }) => id === session.id);
  if (current === undefined || app.clock() >= idleEndsAt(current)) return null;
  if (found === null || found.deactivatedAt !== null || mustAddFactor) return null;
  const role = roleIn(memberships, projectId);
  return role !== null && mayDo(role, action) ? role : null;
}
