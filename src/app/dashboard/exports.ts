import type { Client } from 'pg';
import { mayDo } from '../../domain/role.ts';
import {
  endServerProcess,
  serverProcess,
  takeExportSlot,
  type ExportSlot,
  copyPayments,
  countAbout,
  type PaymentExport,
} from '../../store/reports/payment-export.ts';
import { membershipsOf } from '../../store/people/people.ts';
import { recordAudit, type AuditedChange } from '../audit.ts';
import type { App } from '../context.ts';
import { copyAudit, type AuditExport } from '../../store/people/audit.ts';
import { copyProject } from '../../store/projects/project-export.ts';

/** A file that is about to be written. */
export interface OpenExport {
  /** About how many rows it will have; null where nobody can say. */
  readonly rowsAbout: number | null;
  /**
   * Writes it, piece by piece; each waits for the one before. Returns the number of rows. Ends the connection, whatever
   * comes of it; throws what `take` throws.
   */
  write(take: (piece: Buffer) => Promise<void>): Promise<number>;
  /** Ends the connection and its work in the database, which would not notice before it has something to send. */
  stop(): Promise<void>;
}

export type OpenedExport =
  | { readonly kind: 'opened'; readonly file: OpenExport }
  /** The limit of exports at a time is reached, in all processes together: of everybody, or of this person. */
  | { readonly kind: 'busy'; readonly why: Exclude<ExportSlot, 'taken'> };

/** The rows of an export, and its entry in the audit log. */
interface ExportWork {
  readonly audited: AuditedChange;
  /** Left out where nobody can say how many rows there will be. */
  readonly countRows?: () => Promise<number | null>;
  readonly copy: (client: Client, take: (piece: Buffer) => Promise<void>) => Promise<number>;
}

/**
 * A request as the audit log keeps it. Nobody can change the log, so it leaves out the search text, which may name a
 * customer.
 */
export function withoutSearch(asked: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { search, label, ...others } = asked;
  return {
    ...others,
    ...(search === undefined ? {} : { has_search: true }),
    ...(label === undefined ? {} : { has_label: true }),
  };
}

/** Opens an export on a connection of its own, and keeps in the audit log who takes what. */
export async function openExport(
  app: App,
  connect: () => Promise<Client>,
  { audited, countRows, copy }: ExportWork,
): Promise<OpenedExport> {
  const client = await connect();
  let isOpen = true;
  const close = async (): Promise<void> => {
    isOpen = false;
    await client.end().catch(() => {});
  };
  try {
    const personId = app.actor?.kind === 'person' ? app.actor.id : null;
    const leads =
      personId === null || (await membershipsOf(app.db, personId)).some(({ role }) => mayDo(role, 'export_project'));
    const slot = await takeExportSlot(client, personId, leads);
    if (slot !== 'taken') {
      await close();
      return { kind: 'busy', why: slot };
    }
    const pid = await serverProcess(client);
    const rowsAbout = (await countRows?.()) ?? null;
    await app.db.transaction().execute((trx) => recordAudit(app, trx, audited));
    return {
      kind: 'opened',
      file: {
        rowsAbout,
        write: async (take) => {
          try {
            return await copy(client, take);
          } finally {
            await close();
          }
        },
        stop: async () => {
          // The number of a process that ended may be another one's by now.
          if (isOpen) await Promise.all([close(), endServerProcess(app.db, pid)]);
        },
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens a file of payments. */
export function exportPayments(
  app: App,
  connect: () => Promise<Client>,
  file: PaymentExport,
  asked: Readonly<Record<string, unknown>>,
): Promise<OpenedExport> {
  const { scope, search } = file;
  return openExport(app, connect, {
    audited: {
      action: 'payment.export',
      projectId: scope.projectId,
      subject: { kind: 'payments', id: null },
      after: { mode: scope.mode, ...withoutSearch(asked) },
    },
    countRows: () => countAbout(app.db, scope, search),
    copy: (client, take) => copyPayments(client, file, take),
  });
}

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
    copy: (client, take) => copyAudit(client, file, take),
  });
}

/** Opens a file of what is kept for good of a project, without secrets. */
export function exportProject(app: App, connect: () => Promise<Client>, projectId: string): Promise<OpenedExport> {
  return openExport(app, connect, {
    audited: { action: 'project.export', projectId, subject: { kind: 'project', id: projectId } },
    copy: (client, take) => copyProject(client, projectId, take),
  });
}
