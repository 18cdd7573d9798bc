import type { Client } from 'pg';
import { mayDo } from '../../domain/role.ts';
import {
  takeExportSlot,
  type ExportSlot,
  copyPayments,
  countAbout,
  type PaymentExport,
} from '../../store/reports/payment-export.ts';
import type { ConnectToRead } from '../../store/long-reads.ts';
import { membershipsOf } from '../../store/people/people.ts';
import { recordAudit, type AuditedChange } from '../audit.ts';
import type { App } from '../context.ts';
import { copyAudit, type AuditExport } from '../../store/people/audit.ts';
import { copyProject } from '../../store/projects/project-export.ts';

/** A file that is about to be written. */
export interface OpenExport {
  /** The approximate number of rows; null if unknown. */
  readonly rowsAbout: number | null;
  /**
   * Passes the file to `take` piece by piece, each after the one before, and returns the number of rows. Always ends
   * the connection. Throws what `take` throws.
   */
  write(take: (piece: Buffer) => Promise<void>): Promise<number>;
  /**
   * Ends the connection and its query: the database would not notice the closed connection before it has rows to send.
   */
  stop(): Promise<void>;
}

export type OpenedExport =
  | { readonly kind: 'opened'; readonly file: OpenExport }
  /** The limit of simultaneous exports is reached, for all people or for this person, counted over all processes. */
  | { readonly kind: 'busy'; readonly why: Exclude<ExportSlot, 'taken'> };

/** The rows of an export, and its entry in the audit log. */
interface ExportWork {
  readonly audited: AuditedChange;
  /** Absent if nobody can know the number of rows. */
  readonly countRows?: () => Promise<number | null>;
  readonly copy: (client: Client, take: (piece: Buffer) => Promise<void>) => Promise<number>;
}

/**
 * A request as the audit log keeps it, without the search text, which may name a customer: nobody can delete from the
 * log.
 */
export function withoutSearch(asked: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { search, label, ...others } = asked;
  return {
    ...others,
    ...(search === undefined ? {} : { has_search: true }),
    ...(label === undefined ? {} : { has_label: true }),
  };
}

/** Opens an export on a connection of its own, and records in the audit log who exports what. */
export async function openExport(
  app: App,
  connect: ConnectToRead,
  { audited, countRows, copy }: ExportWork,
): Promise<OpenedExport> {
  const read = await connect();
  const { client } = read;
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
    const rowsAbout = (await countRows?.()) ?? null;
    await app.db.transaction().execute((trx) => recordAudit(app, trx, audited));
    // The audit log's own export has its entry too.
    await read.catchUp().catch((error: unknown) => {
      throw read.explain(error);
    });
    return {
      kind: 'opened',
      file: {
        rowsAbout,
        write: async (take) => {
          try {
            return await copy(client, take);
          } catch (error) {
            throw read.explain(error);
          } finally {
            await close();
          }
        },
        stop: async () => {
          if (isOpen) await Promise.all([close(), read.endProcess()]);
        },
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens an export of payments. */
export function exportPayments(
  app: App,
  connect: ConnectToRead,
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

/** Opens an export of the audit log, whose last entry is the export itself. */
export function exportAudit(
  app: App,
  connect: ConnectToRead,
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

/** Opens an export of a project's permanent records, without secrets. */
export function exportProject(app: App, connect: ConnectToRead, projectId: string): Promise<OpenedExport> {
  return openExport(app, connect, {
    audited: { action: 'project.export', projectId, subject: { kind: 'project', id: projectId } },
    copy: (client, take) => copyProject(client, projectId, take),
  });
}
