import type { Client } from 'pg';
import { copyAudit, type AuditExport } from '../../store/people/audit-export.ts';
import type { App } from '../context.ts';
import { openExport, type OpenedExport } from './open-export.ts';

/** Opens a file of the audit log. That it was taken is the last entry in it. */
export function exportAudit(
  app: App,
  connect: () => Promise<Client>,
  file: AuditExport,
  asked: Readonly<Record<string, unknown>>,
): Promise<OpenedExport> {
  return openExport(app, connect, {
    audited: {
      action: 'audit.export',
      projectId: file.filter.projectId,
      subject: { kind: 'audit', id: null },
      after: asked,
    },
    countAbout: () => Promise.resolve(null),
    copy: (client, take) => copyAudit(client, file, take),
  });
}
