import { currencyOf } from '../../store/projects/projects.ts';
import { copyCustomers, type CustomerExport } from '../../store/reports/customer-export.ts';
import type { ConnectToRead } from '../../store/long-reads.ts';
import type { App } from '../context.ts';
import { openExport, withoutSearch, type OpenedExport } from './exports.ts';

/** Opens an export of customers. */
export async function exportCustomers(
  app: App,
  connect: ConnectToRead,
  file: Omit<CustomerExport, 'currency'>,
  asked: Readonly<Record<string, unknown>>,
): Promise<OpenedExport> {
  const { projectId, mode } = file.scope;
  const currency = await currencyOf(app.db, projectId);
  return openExport(app, connect, {
    audited: {
      action: 'customer.export',
      projectId,
      subject: { kind: 'customers', id: null },
      after: { mode, ...withoutSearch(asked) },
    },
    copy: (client, take) => copyCustomers(client, { ...file, currency }, take),
  });
}
