import type { FastifyInstance } from 'fastify';
import {
  deactivatePerson,
  invitePerson,
  memberOf,
  peopleOf,
  resetPerson,
  setRole,
  type Who,
} from '../../app/people/people.ts';
import { createProject } from '../../app/projects/projects.ts';
import type { Rejected } from '../../app/rejected.ts';
import { parseUuid } from '../../domain/id.ts';
import { projectsWithout } from '../../domain/role.ts';
import { listAuditEntries, type AuditEntry } from '../../store/audit.ts';
import type { Member } from '../../store/people.ts';
import { isoTime, isoTimeOrNull } from '../../wire/time.ts';
import { invalid, notFound } from '../errors.ts';
import type { AuditEntryView } from './contract/audit.ts';
import type { PersonView } from './contract/people.ts';
import { addRoute, appFor, signedInOf, type Dashboard } from './route.ts';

/** People, projects and the audit log. */
export function peopleRoutes(app: FastifyInstance, dashboard: Dashboard): void {
  const { app: core, site } = dashboard.people;
  const MANAGE = { action: 'manage_people' } as const;
  addRoute(app, 'GET /dashboard/api/people', { action: 'read_people' }, async () => ({
    data: (await peopleOf(core)).map(personView),
  }));
  addRoute(app, 'POST /dashboard/api/people/invite', MANAGE, async ({ body, request }) => {
    const projectId = projectOf(body.project);
    const invited = done(await invitePerson(appFor(core, request), site.url, { ...body, projectId }), 'email');
    return {
      person: await viewOf(invited.person.id),
      link: invited.link.url,
      expires_at: isoTime(invited.link.expiresAt),
    };
  });
  addRoute(app, 'POST /dashboard/api/people/role', MANAGE, async ({ body, request }) => {
    const wanted = { role: body.role, projectId: projectOf(body.project) };
    const { person } = done(await setRole(appFor(core, request), whoOf(body.id), wanted), 'role');
    return { person: await viewOf(person.id) };
  });
  addRoute(app, 'POST /dashboard/api/people/reset', MANAGE, async ({ body, request }) => {
    const { person, link } = done(await resetPerson(appFor(core, request), site.url, whoOf(body.id)), 'id');
    return { person: await viewOf(person.id), link: link.url, expires_at: isoTime(link.expiresAt) };
  });
  addRoute(app, 'POST /dashboard/api/people/deactivate', MANAGE, async ({ body, request }) => {
    const { person } = done(await deactivatePerson(appFor(core, request), whoOf(body.id)), 'id');
    return { person: await viewOf(person.id) };
  });
  addRoute(app, 'POST /dashboard/api/projects', { action: 'create_projects' }, async ({ body, request }) => {
    const outcome = await createProject(appFor(core, request), body.name);
    if (outcome.kind === 'rejected') throw invalid('name', outcome.message.replace('--name', 'name'));
    const { id, name } = outcome.project;
    return { id, name };
  });
  auditRoutes(app, dashboard);

  const viewOf = async (id: string): Promise<PersonView> => {
    const member = await memberOf(core, id);
    if (member === null) throw notFound('There is no such person.');
    return personView(member);
  };
}

function auditRoutes(app: FastifyInstance, { people: { app: core } }: Dashboard): void {
  const list = async (
    projectId: string | null,
    { after, limit = 50 }: { readonly after?: string; readonly limit?: number },
    without: readonly string[] = [],
  ) => {
    const before = after === undefined ? null : parseUuid(after);
    if (after !== undefined && before === null) throw invalid('after', 'after must be the next of the page before.');
    const entries = await listAuditEntries(core.db, projectId, { after: before, limit: limit + 1, without });
    const shown = entries.slice(0, limit);
    return {
      data: shown.map(entryView),
      next: entries.length > limit ? (shown.at(-1)?.id ?? null) : null,
    };
  };
  addRoute(app, 'GET /dashboard/api/audit', { action: 'read_service_audit' }, ({ query, request }) =>
    // As everywhere, a role in a single project overrides the role in all of them.
    list(null, query, projectsWithout(signedInOf(request).memberships, 'read_audit')),
  );
  addRoute(app, 'GET /dashboard/api/projects/:project/audit', { action: 'read_audit' }, ({ params, query }) =>
    list(parseUuid(params.project), query),
  );
}

const PARAM_OF = { project: 'project', person: 'id', key: 'id' } as const;

/** `param` is the invalid field, unless the rejection names another one. */
function done<Outcome extends { readonly kind: string }>(
  outcome: Outcome | Rejected,
  param: string,
): Exclude<Outcome, Rejected> {
  if (outcome.kind === 'rejected' && 'message' in outcome) {
    const field = outcome.of === undefined ? param : PARAM_OF[outcome.of];
    throw invalid(field, outcome.message);
  }
  return outcome as Exclude<Outcome, Rejected>;
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

function entryView(entry: AuditEntry): AuditEntryView {
  return {
    id: entry.id,
    at: isoTime(entry.at),
    actor: { ...entry.actor },
    action: entry.action,
    project: entry.projectId,
    subject: { ...entry.subject },
    before: entry.before,
    after: entry.after,
    ip: entry.ip,
  };
}
