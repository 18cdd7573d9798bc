import type { FastifyRequest } from 'fastify';
import { changeView, removeView, saveView, viewsOf, type Viewing } from '../../../app/dashboard/saved-views.ts';
import { rejected } from '../../../app/rejected.ts';
import { parseUuid } from '../../../domain/id.ts';
import { mayDo } from '../../../domain/role.ts';
import type { SavedView } from '../../../store/payments/saved-views.ts';
import { isoTime } from '../../../wire/time.ts';
import { badField, done } from '../refusal-words.ts';
import { refusalError } from '../../page-sentences.ts';
import type { Dashboard, Routes } from '../route.ts';
import { signedInOf, type ProjectScope } from '../scope.ts';
import type { ViewAnswer } from './contract.ts';

const VIEWS = '/dashboard/api/projects/:project/views';

/** Views of the list of payments: filters and columns under a name. */
export function viewRoutes(routes: Routes, { people: { app: core } }: Dashboard): void {
  const READ = { action: 'read_payments' } as const;
  routes.add(`GET ${VIEWS}`, READ, async ({ scope, request }) => {
    const viewing = viewingOf(request, scope);
    return { data: (await viewsOf(core, viewing)).map((view) => answerOf(view, view.owner, viewing)) };
  });
  routes.add(`POST ${VIEWS}`, READ, async ({ scope, body, own, request }) => {
    const viewing = viewingOf(request, scope);
    const fields = { ...body, name: nameOf(body.name) };
    const { view } = done(await saveView(own, viewing, fields));
    return answerOf(view, signedInOf(request).person.email, viewing);
  });
  routes.add(`POST ${VIEWS}/:view`, READ, async ({ scope, params, body, own, request }) => {
    const viewing = viewingOf(request, scope);
    const fields = { ...body, name: nameOf(body.name) };
    const { id } = done(await changeView(own, viewing, viewIdOf(params.view), fields)).view;
    const view = (await viewsOf(core, viewing)).find((one) => one.id === id);
    if (view === undefined) throw noView();
    return answerOf(view, view.owner, viewing);
  });
  routes.add(`POST ${VIEWS}/:view/delete`, READ, async ({ scope, params, body, own, request }) => {
    done(await removeView(own, viewingOf(request, scope), viewIdOf(params.view), body.version));
    return {};
  });
}

function viewingOf(request: FastifyRequest, scope: Omit<ProjectScope, 'mode'>): Viewing {
  return { ...scope, personId: signedInOf(request).person.id };
}

function viewIdOf(text: string): string {
  const id = parseUuid(text);
  if (id === null) throw noView();
  return id;
}

function nameOf(text: string): string {
  const name = text.trim();
  if (name === '') throw badField('name', 'text_empty', {});
  return name;
}

function noView() {
  return refusalError(rejected('no_view'));
}

function answerOf(view: SavedView, owner: string, { personId, role }: Viewing): ViewAnswer {
  const isOwn = view.personId === personId;
  return {
    id: view.id,
    name: view.name,
    query: view.query,
    shared: view.shared,
    owner,
    is_own: isOwn,
    can_change: isOwn || mayDo(role, 'share_views'),
    version: view.version,
    changed_at: isoTime(view.changedAt),
  };
}
