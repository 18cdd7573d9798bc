import type { Client } from 'pg';
import { copyProject } from '../../store/projects/project-export.ts';
import type { App } from '../context.ts';
import { openExport, type OpenedExport } from './open-export.ts';

/** Opens a file of what is kept for good of a project, without secrets. */
export function exportProject(app: App, connect: () => Promise<Client>, projectId: string): Promise<OpenedExport> {
  return openExport(app, connect, {
    audited: { action: 'project.export', projectId, subject: { kind: 'project', id: projectId } },
    countAbout: () => Promise.resolve(null),
    copy: (client, take) => copyProject(client, projectId, take),
  });
}
