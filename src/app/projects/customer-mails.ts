import { isEmail } from '../../domain/mail-address.ts';
import { CUSTOMER_LANGUAGES } from '../../mail/customer-mail.ts';
import {
  findCustomerMails,
  saveCustomerMails,
  type CustomerMailSettings,
} from '../../store/projects/customer-mails.ts';
import { lockProject, findProject } from '../../store/projects/projects.ts';
import type { Database } from '../../store/database.ts';
import { differences, recordAudit } from '../audit.ts';
import type { App } from '../context.ts';
import { noProject, rejected, type Rejected } from '../rejected.ts';

export { CUSTOMER_LANGUAGES };

/** Whether and how a project mails its customers, as people change it. */
export type CustomerMailChoices = Omit<CustomerMailSettings, 'projectId' | 'since'>;

const USUAL: CustomerMailChoices = { isOn: false, fromAddress: null, replyTo: null, language: 'en' };

export async function customerMailChoices(db: Database, projectId: string): Promise<CustomerMailChoices> {
  const saved = await findCustomerMails(db, projectId);
  return saved === null ? USUAL : chosen(saved);
}

/** Saves how a project mails its customers. If it begins to, mails are about what happens from then on. */
export async function saveCustomerMailChoices(
  app: App,
  projectId: string,
  given: CustomerMailChoices,
): Promise<{ readonly kind: 'done'; readonly choices: CustomerMailChoices } | Rejected> {
  for (const [param, text] of [
    ['fromAddress', given.fromAddress],
    ['replyTo', given.replyTo],
  ] as const) {
    if (text !== null && !isEmail(text)) return rejected('email', { param });
  }
  if (!CUSTOMER_LANGUAGES.includes(given.language)) {
    return rejected('one_of', { param: 'language', names: CUSTOMER_LANGUAGES.join(', ') });
  }
  return app.db.transaction().execute(async (trx) => {
    await lockProject(trx, projectId);
    if ((await findProject(trx, projectId)) === null) return noProject(projectId);
    const saved = await findCustomerMails(trx, projectId);
    const before = saved === null ? USUAL : chosen(saved);
    const now = app.clock();
    const since = saved === null || (given.isOn && !saved.isOn) ? now : saved.since;
    await saveCustomerMails(trx, { ...given, projectId, since });
    const changed = differences(before, given);
    if (Object.keys(changed.after).length > 0) {
      await recordAudit(app, trx, {
        action: 'project.customer_mails',
        projectId,
        subject: { kind: 'project', id: projectId },
        ...changed,
      });
    }
    return { kind: 'done', choices: given };
  });
}

function chosen({ isOn, fromAddress, replyTo, language }: CustomerMailSettings): CustomerMailChoices {
  return { isOn, fromAddress, replyTo, language };
}
