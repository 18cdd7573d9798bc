import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { exportAudit } from '../../../app/dashboard/exports.ts';
import { roleOfOpenSession } from '../../../app/people/open-session.ts';
import { parseUuid } from '../../../domain/id.ts';
import { projectsWithout, roleIn, ROLES } from '../../../domain/role.ts';
import { assignees } from '../../../store/figures/attention.ts';
import { listAuditEntries, type AuditFilter, type AuditEntry } from '../../../store/people/audit.ts';
import { listMembers } from '../../../store/people/people.ts';
import { isoTime } from '../../../wire/time.ts';
import { readIsoDate } from '../../dates.ts';
import { invalid } from '../../errors.ts';
import { CONTRACT, type AnswerOf, type QueryOf } from '../contract.ts';
import { addRoute, appFor, signedInOf, type Dashboard } from '../route.ts';
import type { FileSender } from '../send-file.ts';
import { ACTOR_KINDS, type AuditEntryView, type AuditExportRequest, type AuditFilters } from './contract.ts';

const ALL = '/dashboard/api/audit';
const OF_PROJECT = '/dashboard/api/projects/:project/audit';

/** The audit log of a project or of all of them: lists and files. */
export function auditRoutes(app: FastifyInstance, dashboard: Dashboard, send: FileSender): void {
  const { app: core } = dashboard.people;
  const list = async (
    filter: AuditFilter,
    { after, limit = 50 }: Pick<QueryOf<`GET ${typeof ALL}`>, 'after' | 'limit'>,
  ): Promise<AnswerOf<`GET ${typeof ALL}`>> => {
    const before = after === undefined ? null : parseUuid(after);
    if (after !== undefined && before === null) throw invalid('after', 'after must be the next of the page before.');
    const [entries, people] = await Promise.all([
      listAuditEntries(core.db, filter, { after: before, limit: limit + 1 }),
      filter.projectId === null ? listMembers(core.db) : assignees(core.db, filter.projectId, ROLES),
    ]);
    const shown = entries.slice(0, limit);
    return {
      data: shown.map(entryView),
      next: entries.length > limit ? (shown.at(-1)?.id ?? null) : null,
      people: people.map(({ id, email }) => ({ id, email })),
    };
  };
  addRoute(app, `GET ${ALL}`, { action: 'read_service_audit' }, ({ query, request }) =>
    list(filterOf(query, null, request), query),
  );
  addRoute(app, `GET ${OF_PROJECT}`, { action: 'read_audit' }, ({ params, query, request }) =>
    list(filterOf(query, parseUuid(params.project), request), query),
  );
  fileRoutes(app, dashboard, send);
}

type ExportCall = FastifyRequest<{ Params: { project?: string }; Body: AuditExportRequest }>;

function fileRoutes(app: FastifyInstance, dashboard: Dashboard, send: FileSender): void {
  const { app: core } = dashboard.people;
  const handle = async (request: ExportCall, reply: FastifyReply): Promise<FastifyReply> => {
    const { format = 'csv', separator = 'comma', ...filters } = request.body;
    const projectId = request.params.project === undefined ? null : parseUuid(request.params.project);
    const filter = filterOf(filters, projectId, request);
    const signedIn = signedInOf(request);
    const role = roleIn(signedIn.memberships, projectId);
    const file = { filter, format, separator: separator === 'comma' ? ',' : ';', zone: 'UTC' } as const;
    const open = () => exportAudit(appFor(core, request), dashboard.exports.connect, file, { ...request.body });
    const action = projectId === null ? 'read_service_audit' : 'read_audit';
    return send(request, reply, open, {
      name: 'audit',
      format,
      mayRead: async () => (await roleOfOpenSession(core, signedIn, projectId, action)) === role,
    });
  };
  for (const [url, action] of [
    [ALL, 'read_service_audit'],
    [OF_PROJECT, 'read_audit'],
  ] as const) {
    const { body } = CONTRACT[`POST ${url}/export`];
    const schema = { hide: true, body, ...(url === OF_PROJECT && { params: CONTRACT[`POST ${url}/export`].params }) };
    const config = { guard: { kind: 'session', action }, stream: true } as const;
    app.post<{ Params: { project?: string }; Body: AuditExportRequest }>(`${url}/export`, { config, schema }, handle);
  }
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
