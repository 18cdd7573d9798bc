import type { FastifyRequest } from 'fastify';
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
import { requireFactors } from '../../../app/people/required-factors.ts';
import type { App } from '../../../app/context.ts';
import { keysPeopleMade, type MadeKey } from '../../../app/projects/keys.ts';
import { createProject } from '../../../app/projects/projects.ts';
import { rejected } from '../../../app/rejected.ts';
import { encodeId, parseUuid } from '../../../domain/id.ts';
import { mayDo, roleIn } from '../../../domain/role.ts';
import { rolesWithFactor } from '../../../store/people/factors.ts';
import type { Member } from '../../../store/people/people.ts';
import type { StoredKey } from '../../../store/projects/api-keys.ts';
import { isoTime, isoTimeOrNull } from '../../../wire/time.ts';
import { invalid, notFound } from '../../errors.ts';
import { sessionViews } from '../account/record.ts';
import { done } from '../refusal-words.ts';
import { refusalError } from '../../page-sentences.ts';
import type { Dashboard, Routes } from '../route.ts';
import { lastUseOf } from '../record-parts.ts';
import type { MadeKeyView, PersonView } from './contract.ts';
import { signedInOf } from '../scope.ts';

/** People and projects. */
export function peopleRoutes(routes: Routes, dashboard: Dashboard): void {
  const { app: core, site } = dashboard.people;
  const MANAGE = { action: 'manage_people' } as const;
  routes.add('GET /dashboard/api/people', { action: 'read_people' }, async ({ request }) => {
    const [people, roles] = await Promise.all([peopleOf(core), rolesWithFactor(core.db)]);
    return { data: await viewsOf(core, people, request), factor_roles: [...roles] };
  });
  routes.add('POST /dashboard/api/people/factor-roles', MANAGE, async ({ body, own }) => {
    done(await requireFactors(own, body.roles, body.seen), 'roles');
    return {};
  });
  routes.add('POST /dashboard/api/people/invite', MANAGE, async ({ body, own, request }) => {
    const projectId = projectOf(body.project);
    const invited = done(await invitePerson(own, site.url, { ...body, projectId }), 'email');
    return {
      person: await viewOf(invited.person.id, request),
      link: invited.link.url,
      expires_at: isoTime(invited.link.expiresAt),
      is_mailed: invited.isMailed,
    };
  });
  routes.add('POST /dashboard/api/people/role', MANAGE, async ({ body, own, request }) => {
    const wanted = { role: body.role, projectId: projectOf(body.project), seen: body.seen };
    const { person } = done(await setRole(own, whoOf(body.id), wanted), 'role');
    return { person: await viewOf(person.id, request) };
  });
  routes.add('POST /dashboard/api/people/reset', MANAGE, async ({ body, own, request }) => {
    const { person, link } = done(await resetPerson(own, site.url, whoOf(body.id)), 'id');
    return {
      person: await viewOf(person.id, request),
      link: link.url,
      expires_at: isoTime(link.expiresAt),
      is_mailed: false,
    };
  });
  routes.add('POST /dashboard/api/people/remove-factors', MANAGE, async ({ body, own, request }) => {
    const { person } = done(await removeSecondFactor(own, whoOf(body.id)), 'id');
    return { person: await viewOf(person.id, request) };
  });
  routes.add('POST /dashboard/api/people/deactivate', MANAGE, async ({ body, own, request }) => {
    const { person } = done(await deactivatePerson(own, whoOf(body.id)), 'id');
    return { person: await viewOf(person.id, request) };
  });
  routes.add('POST /dashboard/api/projects', { action: 'create_projects' }, async ({ body, own }) => {
    const { id, name } = done(await createProject(own, body.name)).project;
    return { id, name };
  });
  sessionsOfOthers(routes, dashboard);

  const viewOf = async (id: string, request: FastifyRequest): Promise<PersonView> => {
    const member = await memberOf(core, id);
    const [view] = member === null ? [] : await viewsOf(core, [member], request);
    if (view === undefined) throw refusalError(rejected('no_person'), 'id');
    return view;
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
      throw notFound('This session has already ended.');
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
  if (id === null) throw invalid('project', 'project must be the id of a project. Leave it out for all projects.');
  return id;
}

/** People as another person sees them, with those of their keys that this person may see. */
async function viewsOf(app: App, people: readonly Member[], request: FastifyRequest): Promise<PersonView[]> {
  const { memberships } = signedInOf(request);
  const keys = Map.groupBy(await keysPeopleMade(app, null), ({ maker }) => maker.id);
  return people.map((member) => {
    const made = keys.get(member.id) ?? [];
    const shown = made.filter(({ key }) => mayDo(roleIn(memberships, key.projectId), 'read_developer'));
    return personView(member, shown, made.length - shown.length);
  });
}

function personView(member: Member, made: readonly MadeKey[], elsewhere: number): PersonView {
  const { deactivatedAt, passwordHash, sealedTotp, hasPasskeys } = member;
  return {
    id: member.id,
    email: member.email,
    name: member.name,
    state: deactivatedAt !== null ? 'deactivated' : passwordHash === null ? 'invited' : 'active',
    memberships: member.memberships.map(({ projectId, role }) => ({ project: projectId, role })),
    has_second_factor: sealedTotp !== null || hasPasskeys,
    keys: made.map(({ key }) => madeKeyView(key)),
    keys_elsewhere: elsewhere,
    created_at: isoTime(member.createdAt),
    last_seen_at: isoTimeOrNull(member.lastSeenAt),
  };
}

function madeKeyView(key: StoredKey): MadeKeyView {
  return {
    id: encodeId('key', key.id),
    name: key.name,
    project: key.projectId,
    mode: key.mode,
    kind: key.kind,
    permission: key.permission,
    scopes: key.scopes === null ? null : [...key.scopes],
    last_used_at: lastUseOf(key),
  };
}
