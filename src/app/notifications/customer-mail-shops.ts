import type { Mode, ProjectMode } from '../../domain/permission.ts';
import { MODES } from '../../domain/permission.ts';
import { mayDo, roleIn } from '../../domain/role.ts';
import type { Database, Trx } from '../../store/database.ts';
import { mailReaders } from '../../store/people/mails.ts';
import { projectsWithCustomerMails } from '../../store/projects/customer-mails.ts';
import { listProjects } from '../../store/projects/projects.ts';

/** The projects that mail their customers now. */
export interface CustomerMailShops {
  readonly scopes: readonly ProjectMode[];
  /** Whether something happened since the project mails its customers. */
  isSince(what: { readonly projectId: string; readonly at: number }): boolean;
  /** The same, of a payment whose customer may be mailed. */
  mayMail(payment: MailedPayment & { readonly at: number }): boolean;
}

interface MailedPayment {
  readonly projectId: string;
  readonly mode: Mode;
  readonly email: string | null;
}

export async function customerMailShops(executor: Database | Trx): Promise<CustomerMailShops> {
  const all = await projectsWithCustomerMails(executor);
  if (all.length === 0) return { scopes: [], isSince: () => false, mayMail: () => false };
  const [projects, ofPeople] = await Promise.all([listProjects(executor), peoplesAddresses(executor)]);
  const active = new Set(projects.filter((project) => project.active).map(({ id }) => id));
  const since = new Map(all.filter(({ projectId }) => active.has(projectId)).map((one) => [one.projectId, one.since]));
  const isSince: CustomerMailShops['isSince'] = ({ projectId, at }) => at >= (since.get(projectId) ?? Infinity);
  return {
    scopes: [...since.keys()].flatMap((projectId) => MODES.map((mode) => ({ projectId, mode }))),
    isSince,
    mayMail: (payment) => isSince(payment) && ofPeople(payment),
  };
}

/** Whether the address is known, and for a test payment that of a person who may see the project's payments. */
export async function peoplesAddresses(executor: Database | Trx): Promise<(payment: MailedPayment) => boolean> {
  const readers = await mailReaders(executor);
  return ({ projectId, mode, email }) => {
    if (email === null || mode === 'live') return email !== null;
    return readers.some(
      (reader) =>
        reader.email.toLowerCase() === email.toLowerCase() &&
        mayDo(roleIn(reader.memberships, projectId), 'read_payments'),
    );
  };
}
