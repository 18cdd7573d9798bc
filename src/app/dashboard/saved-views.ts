import { mayDo, type Role } from '../../domain/role.ts';
import type { Trx } from '../../store/database.ts';
import {
  countViews,
  deleteView,
  insertView,
  listViews,
  lockView,
  updateView,
  type OwnedView,
  type SavedView,
} from '../../store/payments/saved-views.ts';
import { differences, recordAudit } from '../audit.ts';
import { newId, type App } from '../context.ts';
import { rejected, type Rejected } from '../rejected.ts';

/** The person who asks, and their role in the project. */
export interface Viewing {
  readonly projectId: string;
  readonly personId: string;
  readonly role: Role;
}

export interface ViewFields {
  readonly name: string;
  readonly query: string;
  readonly shared: boolean;
}

export type ViewOutcome = { readonly kind: 'done'; readonly view: SavedView } | Rejected;

const MAX_OWN = 50;
const MAX_SHOWN = 200;

export function viewsOf(app: App, { projectId, personId }: Viewing): Promise<readonly OwnedView[]> {
  return listViews(app.db, projectId, personId, MAX_SHOWN);
}

/** Saves a new view owned by the person. */
export function saveView(app: App, viewing: Viewing, fields: ViewFields): Promise<ViewOutcome> {
  return app.db.transaction().execute(async (trx): Promise<ViewOutcome> => {
    const refusal = sharingRefusal(viewing, fields);
    if (refusal !== null) return refusal;
    if ((await countViews(trx, viewing.projectId, viewing.personId)) >= MAX_OWN) {
      return rejected('too_many_views', { max: MAX_OWN });
    }
    const now = app.clock();
    const { projectId, personId } = viewing;
    const view = { id: newId(app, now), projectId, personId, ...fields, version: 1, createdAt: now, changedAt: now };
    await insertView(trx, view);
    await record(app, trx, 'view.create', view, { after: logged(fields) });
    return { kind: 'done', view };
  });
}

/** Changes a view that was read in a version. Its owner may; a shared view also those who may share views. */
export function changeView(
  app: App,
  viewing: Viewing,
  id: string,
  fields: ViewFields & { readonly version: number },
): Promise<ViewOutcome> {
  return onView(app, viewing, id, fields.version, async (trx, current) => {
    const refusal = fields.shared === current.shared ? null : sharingRefusal(viewing, { shared: true });
    if (refusal !== null) return refusal;
    const { name, query, shared } = fields;
    const { owner: _owner, ...before } = current;
    const view = { ...before, name, query, shared, version: current.version + 1, changedAt: app.clock() };
    await updateView(trx, view);
    const changes = differences(logged(before), logged(fields));
    const after = query === before.query ? changes.after : { ...changes.after, query_changed: true };
    await record(app, trx, 'view.change', view, { before: changes.before, after });
    return { kind: 'done', view };
  });
}

export function removeView(app: App, viewing: Viewing, id: string, version: number): Promise<ViewOutcome> {
  return onView(app, viewing, id, version, async (trx, current) => {
    await deleteView(trx, id);
    await record(app, trx, 'view.delete', current, { before: logged(current) });
    return { kind: 'done', view: current };
  });
}

/** A view as the audit log keeps it, without its search, which may name customers: the log cannot be changed. */
function logged({ name, shared }: ViewFields) {
  return { name, shared };
}

function onView(
  app: App,
  viewing: Viewing,
  id: string,
  version: number,
  work: (trx: Trx, current: OwnedView) => Promise<ViewOutcome>,
): Promise<ViewOutcome> {
  return app.db.transaction().execute(async (trx): Promise<ViewOutcome> => {
    const current = await lockView(trx, viewing.projectId, id);
    const isOwn = current?.personId === viewing.personId;
    // Another person's private view does not exist for anybody else.
    if (current === null || (!isOwn && !current.shared)) return rejected('no_view');
    if (!isOwn && !mayDo(viewing.role, 'share_views')) return rejected('other_view', { owner: current.owner });
    if (current.version !== version) return rejected('view_changed', { name: current.name });
    return work(trx, current);
  });
}

function sharingRefusal({ role }: Viewing, { shared }: Pick<ViewFields, 'shared'>): Rejected | null {
  return !shared || mayDo(role, 'share_views') ? null : rejected('no_sharing', { role });
}

async function record(
  app: App,
  trx: Trx,
  action: string,
  { id, projectId }: SavedView,
  values: Pick<Parameters<typeof recordAudit>[2], 'before' | 'after'>,
): Promise<void> {
  await recordAudit(app, trx, { action, projectId, subject: { kind: 'view', id }, ...values });
}
