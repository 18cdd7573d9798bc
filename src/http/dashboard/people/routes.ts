import {
  deactivatePerson,
  invitePerson,
  memberOf,
  peopleOf,
  removeSecondFactor,
  resetPerson,
  setRole,
  type Who,
} from '../../../app/people/people.ts';
import { endAllSessions, endSession } from '../../../app/people/sessions.ts';
import { createProject } from '../../../app/projects/projects.ts';
import { rejected } from '../../../app/rejected.ts';
import { parseUuid } from '../../../domain/id.ts';
import type { Member } from '../../../store/people/people.ts';
import { isoTime, isoTimeOrNull } from '../../../wire/time.ts';
import { invalid, notFound } from '../../errors.ts';
import { sessionViews } from '../account/record.ts';
import { done, refusalError } from '../refusal-words.ts';
import type { Dashboard, Routes } from '../route.ts';
import type { PersonView } from './contract.ts';
import { signedInOf } from '../scope.ts';

/** People and projects. */
export function peopleRoutes(routes: Routes, dashboard: Dashboard): void {
  const { app: core, site } = dashboard.people;
  const MANAGE = { action: 'manage_people' } as const;
  routes.add('GET /dashboard/api/people', { action: 'read_people' }, async () => ({
    data: (await peopleOf(core)).map(personView),
  }));
  routes.add('POST /dashboard/api/people/invite', MANAGE, async ({ body, own }) => {
    const projectId = projectOf(body.project);
    const invited = done(await invitePerson(own, site.url, { ...body, projectId }), 'email');
    return {
      person: await viewOf(invited.person.id),
      link: invited.link.url,
      expires_at: isoTime(invited.link.expiresAt),
      is_mailed: invited.isMailed,
    };
  });
  routes.add('POST /dashboard/api/people/role', MANAGE, async ({ body, own }) => {
    const wanted = { role: body.role, projectId: projectOf(body.project), seen: body.seen };
    const { person } = done(await setRole(own, whoOf(body.id), wanted), 'role');
    return { person: await viewOf(person.id) };
  });
  routes.add('POST /dashboard/api/people/reset', MANAGE, async ({ body, own }) => {
    const { person, link } = done(await resetPerson(own, site.url, whoOf(body.id)), 'id');
    return { person: await viewOf(person.id), link: link.url, expires_at: isoTime(link.expiresAt), is_mailed: false };
  });
  routes.add('POST /dashboard/api/people/remove-factors', MANAGE, async ({ body, own }) => {
    const { person } = done(await removeSecondFactor(own, whoOf(body.id)), 'id');
    return { person: await viewOf(person.id) };
  });
  routes.add('POST /dashboard/api/people/deactivate', MANAGE, async ({ body, own }) => {
    const { person } = done(await deactivatePerson(own, whoOf(body.id)), 'id');
    return { person: await viewOf(person.id) };
  });
  routes.add('POST /dashboard/api/projects', { action: 'create_projects' }, async ({ body, own }) => {
    const { id, name } = done(await createProject(own, body.name)).project;
    return { id, name };
  });
  sessionsOfOthers(routes, dashboard);

  const viewOf = async (id: string): Promise<PersonView> => {
    const member = await memberOf(core, id);
    if (member === null) throw refusalError(rejected('no_person'), 'id');
    return personView(member);
  };
}

/** The sessions of colleagues; owners can end them. */
function sessionsOfOthers(routes: Routes, { people: { app: core } }: Dashboard): void {
  const MANAGE = { action: 'manage_people' } as const;
  const memberIn = async (text: string): Promise<string> => {
    const id = parseUuid(text);
    if (id === null || (await memberOf(core, id)) === null) throw refusalError(rejected('no_person'));
    return id;
  };
  routes.add('GET /dashboard/api/people/:person/sessions', { action: 'read_people' }, async ({ params, request }) => ({
    data: await sessionViews(core, await memberIn(params.person), signedInOf(request).session),
  }));
  routes.add('POST /dashboard/api/people/:person/sessions/end', MANAGE, async ({ params, body, own }) => {
    const person = await memberIn(params.person);
    const session = parseUuid(body.id);
    if (session === null || !(await endSession(own, person, session))) {
      throw notFound('There is no such session any more.');
    }
    return {};
  });
  routes.add('POST /dashboard/api/people/:person/sessions/end-all', MANAGE, async ({ params, own }) => {
    await endAllSessions(own, await memberIn(params.person));
    return {};
  });
}

function whoOf(text: string): Who {
  const id = parseUuid(text);
  if (id === null) throw invalid('id', 'id must be the id of a person.');
  return { id };
}

function projectOf(text: string | null | undefined): string | null {
  if (text === null || text === undefined) return null;
  const id = parseUuid(text);
  if (id === null) throw invalid('project', 'project must be the id of a project, or left out for all of them.');
  return id;
}

function personView(member: Member): PersonView {
  const { deactivatedAt, passwordHash, sealedTotp, hasPasskeys } = member;
  return {
    id: member.id,
    email: member.email,
    state: deactivatedAt !== null ? 'deactivated' : passwordHash === null ? 'invited' : 'active',
    memberships: member.memberships.map(({ projectId, role }) => ({ project: projectId, role })),
    has_second_factor: sealedTotp !== null || hasPasskeys,
    created_at: isoTime(member.createdAt),
    last_seen_at: isoTimeOrNull(member.lastSeenAt),
  };
}
