import type { FastifyInstance, FastifyRequest } from 'fastify';
import { changeView, removeView, saveView, viewsOf, type Viewing } from '../../../app/dashboard/saved-views.ts';
import { rejected } from '../../../app/rejected.ts';
import { parseUuid } from '../../../domain/id.ts';
import { mayDo } from '../../../domain/role.ts';
import type { SavedView } from '../../../store/payments/saved-views.ts';
import { isoTime } from '../../../wire/time.ts';
import { invalid } from '../../errors.ts';
import { done, refusalError } from '../refusal-words.ts';
import { addRoute, appFor, signedInOf, type Dashboard } from '../route.ts';
import { projectScopeOf } from '../scope.ts';
import type { ViewAnswer } from './contract.ts';

const VIEWS = '/dashboard/api/projects/:project/views';

/** Views of the list of payments: filters and columns under a name. */
export function viewRoutes(app: FastifyInstance, { people: { app: core } }: Dashboard): void {
  const READ = { action: 'read_payments' } as const;
  addRoute(app, `GET ${VIEWS}`, READ, async ({ params, request }) => {
    const viewing = viewingOf(request, params);
    return { data: (await viewsOf(core, viewing)).map((view) => answerOf(view, view.owner, viewing)) };
  });
  addRoute(app, `POST ${VIEWS}`, READ, async ({ params, body, request }) => {
    const viewing = viewingOf(request, params);
    const fields = { ...body, name: nameOf(body.name) };
    const { view } = done(await saveView(appFor(core, request), viewing, fields));
    return answerOf(view, signedInOf(request).person.email, viewing);
  });
  addRoute(app, `POST ${VIEWS}/:view`, READ, async ({ params, body, request }) => {
    const viewing = viewingOf(request, params);
    const fields = { ...body, name: nameOf(body.name) };
    const { id } = done(await changeView(appFor(core, request), viewing, viewIdOf(params.view), fields)).view;
    const view = (await viewsOf(core, viewing)).find((one) => one.id === id);
    if (view === undefined) throw noView();
    return answerOf(view, view.owner, viewing);
  });
  addRoute(app, `POST ${VIEWS}/:view/delete`, READ, async ({ params, body, request }) => {
    done(await removeView(appFor(core, request), viewingOf(request, params), viewIdOf(params.view), body.version));
    return {};
  });
}

function viewingOf(request: FastifyRequest, params: { readonly project: string }): Viewing {
  return { ...projectScopeOf(request, params), personId: signedInOf(request).person.id };
}

function viewIdOf(text: string): string {
  const id = parseUuid(text);
  if (id === null) throw noView();
  return id;
}

function nameOf(text: string): string {
  const name = text.trim();
  if (name === '') throw invalid('name', 'name must have at least one character that is not a space.');
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
