import { holdLease, releaseLease } from '../../store/leases.ts';
import { createKey } from './keys.ts';
import { createProject, projectsOf } from './projects.ts';
import { newId, type App } from '../context.ts';

const LEASE = 'first start';
const LEASE_MS = 30_000;

export interface FirstStart {
  readonly projectId: string;
  /** The key's text; null if no key was wanted. */
  readonly key: string | null;
}

/**
 * On an empty database: creates a project, and a test key unless nobody could read it, so that the first payment is one
 * copied command away. If several processes start at once, one of them does it.
 */
export async function firstStart(app: App, options: { readonly withKey: boolean }): Promise<FirstStart | null> {
  if ((await projectsOf(app)).length > 0) return null;
  const now = app.clock();
  const holder = newId(app, now);
  if (!(await holdLease(app.db, LEASE, holder, now, now + LEASE_MS))) return null;
  try {
    // Another process may have created a project between the check and the lease.
    return (await projectsOf(app)).length > 0 ? null : await makeFirstProject(app, options.withKey);
  } finally {
    await releaseLease(app.db, LEASE, holder);
  }
}

async function makeFirstProject(app: App, withKey: boolean): Promise<FirstStart | null> {
  const created = await createProject(app, 'My shop');
  if (created.kind !== 'done') return null;
  const projectId = created.project.id;
  if (!withKey) return { projectId, key: null };
  const made = await createKey(app, { projectId, mode: 'test', kind: 'secret', permission: 'full', name: 'First key' });
  return made.kind === 'done' ? { projectId, key: made.key } : null;
}
