import { whatStops, type Stops, updateProject, type Project } from '../../store/projects/projects.ts';
import { recordAudit } from '../audit.ts';
import type { App } from '../context.ts';
import { noProject, rejected, type Rejected } from '../rejected.ts';
import { lockedProject } from './projects.ts';

export type { Stops };

/** The activities that a deactivation stops, and those that go on. */
export function stopsOf(app: App, projectId: string): Promise<Stops> {
  return whatStops(app.db, projectId, app.clock());
}

/**
 * Deactivates a project, or activates it again. While a project is deactivated, its keys are refused and its pages ask
 * for no money; money that was sent is still found, and endpoints still receive events. Does nothing if the project has
 * that state already.
 *
 * @param name the project's name typed as a confirmation; null: no confirmation is needed
 */
export async function setActive(
  app: App,
  projectId: string,
  active: boolean,
  name: string | null = null,
): Promise<{ readonly kind: 'done'; readonly project: Project } | Rejected> {
  return app.db.transaction().execute(async (trx) => {
    const before = await lockedProject(trx, projectId);
    if (before === null) return noProject(projectId);
    if (name !== null && name.trim() !== before.name) return rejected('other_name', { param: 'name' });
    if (before.active === active) return { kind: 'done', project: before };
    const project = await updateProject(trx, projectId, { active });
    if (project === null) throw new Error('The project that was just locked is missing.');
    await recordAudit(app, trx, {
      action: active ? 'project.activate' : 'project.deactivate',
      projectId,
      subject: { kind: 'project', id: projectId },
      before: { active: before.active },
      after: { active },
    });
    return { kind: 'done', project };
  });
}
