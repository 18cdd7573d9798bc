import { createKey, createProject, projectsOf } from './projects.ts';
import type { App } from './context.ts';

/** On an empty database: a project with one test key, so that the first payment is one copied command away. */
export async function firstStart(app: App): Promise<{ readonly projectId: string; readonly key: string } | null> {
  if ((await projectsOf(app)).length > 0) return null;
  const created = await createProject(app, 'My shop');
  if (created.kind !== 'done') return null;
  const projectId = created.project.id;
  const made = await createKey(app, { projectId, mode: 'test', kind: 'secret', permission: 'full', name: 'First key' });
  return made.kind === 'done' ? { projectId, key: made.key } : null;
}
