import { PAYMENT_STATUSES, type PaymentStatus } from '../domain/status.ts';
import { PAYMENT_APIS, type Payment, type PaymentApi } from '../domain/payment.ts';
import { MODES, type Mode } from '../domain/permission.ts';
import type { Database } from '../store/database.ts';
import { listPayments } from '../store/payments/payments.ts';
import { findProject, listProjects } from '../store/projects/projects.ts';
import { commaSeparated } from './arguments.ts';
import { noProject, UsageFailure } from './failure.ts';

/** Parses `--status`: payment statuses separated by commas. */
export function statusesOf(text: string): readonly PaymentStatus[] {
  const known: readonly string[] = PAYMENT_STATUSES;
  const names = commaSeparated(text);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined || names.length === 0) {
    throw new UsageFailure(`--status: "${unknown ?? text}" is not one of ${PAYMENT_STATUSES.join(', ')}.`);
  }
  return PAYMENT_STATUSES.filter((status) => names.includes(status));
}

/** One page of payments, newest first: of one project or all, of one mode and API or both. */
export async function listAllPayments(
  db: Database,
  wanted: {
    readonly projectId: string | null;
    readonly mode?: Mode;
    readonly surface?: PaymentApi;
    readonly statuses: readonly PaymentStatus[] | null;
    readonly limit: number;
    readonly offset: number;
  },
): Promise<readonly Payment[]> {
  const projectIds = await projectsOf(db, wanted.projectId);
  const modes = wanted.mode === undefined ? MODES : [wanted.mode];
  const apis = wanted.surface === undefined ? PAYMENT_APIS : [wanted.surface];
  const filter = { statuses: wanted.statuses, createdFrom: null, createdBefore: null };
  // Lists are indexed by project, mode and API: each is read along its own index, and they are merged here.
  const page = { limit: wanted.limit + wanted.offset, offset: 0 };
  let newest: readonly Payment[] = [];
  for (const projectId of projectIds) {
    for (const mode of modes) {
      for (const api of apis) {
        const list = await listPayments(db, { projectId, mode, modes: [mode], api }, filter, page);
        newest = [...newest, ...list].toSorted(newestFirst).slice(0, page.limit);
      }
    }
  }
  return newest.slice(wanted.offset);
}

function newestFirst(a: Payment, b: Payment): number {
  if (a.createdAt !== b.createdAt) return b.createdAt - a.createdAt;
  return a.id < b.id ? 1 : -1;
}

async function projectsOf(db: Database, wanted: string | null): Promise<readonly string[]> {
  if (wanted === null) return (await listProjects(db)).map(({ id }) => id);
  if ((await findProject(db, wanted)) === null) throw noProject(wanted);
  return [wanted];
}
