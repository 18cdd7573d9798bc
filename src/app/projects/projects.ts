import { ALL_COINS } from '../../domain/coin-choice.ts';
import type { Trx } from '../../store/database.ts';
import {
  findProject,
  insertProject,
  listProjects,
  lockProject,
  updateProject,
  type Project,
  type ProjectChanges,
} from '../../store/projects/projects.ts';
import { differences, recordAudit } from '../audit.ts';
import { newId, type App } from '../context.ts';
import { noProject, type Rejected } from '../rejected.ts';
import { checkName } from './name.ts';
import { checkRequest, type ProjectRequest } from './project-request.ts';

export async function createProject(
  app: App,
  name: string,
): Promise<{ readonly kind: 'done'; readonly project: Project } | Rejected> {
  const bad = checkName(name);
  if (bad !== null) return bad;
  const now = app.clock();
  const project: Project & { readonly logo: null; readonly icon: null } = {
    id: newId(app, now),
    name: name.trim(),
    active: true,
    allowIps: [],
    spreadBasisPoints: 0,
    sweepMinUsdCents: 0n,
    allowOrigins: [],
    coins: ALL_COINS,
    monitoringHours: null,
    accent: null,
    supportUrl: null,
    logo: null,
    icon: null,
    createdAt: now,
    defaultExpiryMinutes: null,
    defaultCurrency: null,
    defaultSuccessUrl: null,
    datev: null,
    till: null,
    pageText: null,
    termsUrl: null,
    imprintUrl: null,
  };
  await app.db.transaction().execute(async (trx) => {
    await insertProject(trx, project);
    await recordAudit(app, trx, {
      action: 'project.create',
      projectId: project.id,
      subject: { kind: 'project', id: project.id },
      after: { name: project.name },
    });
  });
  return { kind: 'done', project };
}

export function projectsOf(app: App): Promise<readonly Project[]> {
  return listProjects(app.db);
}

/**
 * Changes a project. IPs are addresses or CIDRs, an empty list allows all; origins look like `https://shop.example`;
 * the accent is `#0b6b5b` with or without `#`; the support URL is https, http or mailto, those of terms and imprint are
 * https; logo and icon are a PNG, JPEG or WebP.
 */
export async function changeProject(
  app: App,
  id: string,
  request: ProjectRequest,
): Promise<{ readonly kind: 'done'; readonly project: Project } | Rejected> {
  return saveChecked(app, request, async (trx, changes) => {
    const before = await lockedProject(trx, id);
    if (before === null) return noProject(id);
    return { kind: 'done', project: await saveProjectChanges(app, trx, before, changes) };
  });
}

/** Saves a checked request in a transaction of its own. */
export async function saveChecked<Outcome>(
  app: App,
  request: ProjectRequest,
  save: (trx: Trx, changes: ProjectChanges) => Promise<Outcome>,
): Promise<Outcome | Rejected> {
  const checked = checkRequest(request);
  if (checked.kind === 'rejected') return checked;
  return app.db.transaction().execute((trx) => save(trx, checked.changes));
}

/** Locks a project until the transaction ends; null if there is none. */
export async function lockedProject(trx: Trx, id: string): Promise<Project | null> {
  await lockProject(trx, id);
  return findProject(trx, id);
}

/** Saves checked changes to an existing project. */
export async function saveProjectChanges(
  app: App,
  trx: Trx,
  before: Project,
  changes: ProjectChanges,
): Promise<Project> {
  const project = await updateProject(trx, before.id, changes);
  if (project === null) throw new Error('The project that was just read is missing.');
  await recordAudit(app, trx, {
    action: 'project.change',
    projectId: before.id,
    subject: { kind: 'project', id: before.id },
    ...differences(before, project),
  });
  return project;
}
