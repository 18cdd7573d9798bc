import type { Client } from 'pg';
import { copyPayments, countAbout, type PaymentExport } from '../../store/reports/payment-export.ts';
import type { App } from '../context.ts';
import { openExport, withoutSearch, type OpenedExport } from './open-export.ts';

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
    countAbout: () => countAbout(app.db, scope, search),
    copy: (client, take) => copyPayments(client, file, take),
  });
}
