import type { FastifyRequest } from 'fastify';
import { exportAudit } from '../../../app/dashboard/exports.ts';
import { parseUuid } from '../../../domain/id.ts';
import { projectsWithout, ROLES } from '../../../domain/role.ts';
import { assignees } from '../../../store/figures/attention.ts';
import { listAuditEntries, type AuditFilter, type AuditEntry } from '../../../store/people/audit.ts';
import { listMembers, namesOfPeople } from '../../../store/people/people.ts';
import { isoTime } from '../../../wire/time.ts';
import { readIsoDate } from '../../dates.ts';
import { invalid } from '../../errors.ts';
import type { AnswerOf, QueryOf } from '../contract.ts';
import type { Dashboard, Routes, Call } from '../route.ts';
import type { AskedFile } from '../send-file.ts';
import { ACTOR_KINDS, type AuditEntryView, type AuditFilters } from './contract.ts';
import { keysetOf, listOf, writingOf } from '../record-parts.ts';
import { signedInOf } from '../scope.ts';

const ALL = '/dashboard/api/audit';
const OF_PROJECT = '/dashboard/api/projects/:project/audit';

/** The audit log of a project or of all of them: lists and files. */
export function auditRoutes(routes: Routes, dashboard: Dashboard): void {
  const { app: core } = dashboard.people;
  const list = async (
    filter: AuditFilter,
    query: Pick<QueryOf<`GET ${typeof ALL}`>, 'after' | 'limit'>,
  ): Promise<AnswerOf<`GET ${typeof ALL}`>> => {
    const page = keysetOf(query, parseUuid);
    const [entries, people, names] = await Promise.all([
      listAuditEntries(core.db, filter, page),
      filter.projectId === null ? listMembers(core.db) : assignees(core.db, filter.projectId, ROLES),
      namesOfPeople(core.db),
    ]);
    return {
      ...listOf(
        entries,
        page,
        (entry) => entryView(entry, names),
        ({ id }) => id,
      ),
      people: people.map(({ id, email, name }) => ({ id, email, name })),
    };
  };
  routes.add(`GET ${ALL}`, { action: 'read_service_audit' }, ({ query, request }) =>
    list(filterOf(query, null, request), query),
  );
  routes.add(`GET ${OF_PROJECT}`, { action: 'read_audit' }, ({ scope, query, request }) =>
    list(filterOf(query, scope.projectId, request), query),
  );
  const fileOf = (
    { body, own, request }: Pick<Call<`POST ${typeof ALL}/export`>, 'body' | 'own' | 'request'>,
    projectId: string | null,
  ): AskedFile => {
    const file = { filter: filterOf(body, projectId, request), ...writingOf(body), zone: 'UTC' };
    return {
      name: 'audit',
      format: file.format,
      open: () => exportAudit(own, dashboard.exports.connect, file, { ...body }),
    };
  };
  routes.file(`POST ${ALL}/export`, 'read_service_audit', async (call) => fileOf(call, null));
  routes.file(`POST ${OF_PROJECT}/export`, 'read_audit', async (call) => fileOf(call, call.scope.projectId));
}

function filterOf(
  { who, what, from, before }: AuditFilters,
  projectId: string | null,
  request: FastifyRequest,
): AuditFilter {
  const start = readIsoDate('from', from);
  const end = readIsoDate('before', before);
  return {
    projectId,
    // A role in a single project overrides the role in all projects, here as everywhere.
    without: projectId === null ? projectsWithout(signedInOf(request).memberships, 'read_audit') : [],
    who: who === undefined ? null : whoOf(who),
    group: what ?? null,
    from: start?.startAt ?? null,
    before: end?.startAt ?? null,
  };
}

function whoOf(text: string): AuditFilter['who'] {
  const kind = ACTOR_KINDS.find((one) => one === text);
  if (kind !== undefined) return { kind };
  const id = parseUuid(text);
  if (id === null) throw invalid('who', `who must be the id of a person or key, or one of ${ACTOR_KINDS.join(', ')}.`);
  return { id };
}

function entryView(entry: AuditEntry, names: ReadonlyMap<string, string>): AuditEntryView {
  return {
    id: entry.id,
    at: isoTime(entry.at),
    actor: { ...entry.actor, person_name: names.get(entry.actor.id ?? '') ?? null },
    action: entry.action,
    project: entry.projectId,
    subject: { ...entry.subject },
    before: entry.before,
    after: entry.after,
    ip: entry.ip,
  };
}
