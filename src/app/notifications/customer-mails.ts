import { composeCustomerMail } from '../../mail/customer-mail.ts';
import { messageIdOf, type Mail } from '../../mail/send.ts';
import type { DueCustomerMail } from '../../store/people/mails.ts';
import { customerOf, findRefusalLink, insertRefusalLink, refuse } from '../../store/projects/customer-mails.ts';
import { findProject } from '../../store/projects/projects.ts';
import { hashOf, newToken, tokenHash } from '../people/token.ts';
import type { App } from '../context.ts';
import { customerMailFacts, type CustomerMailFacts } from './customer-facts.ts';

/** Composes a mail to a customer for sending now; null if it is not to be sent any more. */
export async function prepareForCustomer(
  app: App,
  { from }: { readonly from: string },
  due: DueCustomerMail,
): Promise<Mail | null> {
  const facts = await customerMailFacts(app, due.paymentId, due.content);
  return facts === null ? null : customerMail(app, from, due.id, facts);
}

/** A mail of a shop, with a new link by which its customer refuses more. `from` is the address of the service. */
export async function customerMail(
  app: App,
  from: string,
  id: string,
  { to, mail, language, settings, project, logo }: CustomerMailFacts,
): Promise<Mail> {
  const token = newToken(app.random);
  await insertRefusalLink(app.db, hashOf(token), customerOf(project.id, to), app.clock());
  const base = app.links.checkoutUrl[mail.payment.isTest ? 'test' : 'live'];
  const refusalUrl = `${base}/mails/${token}`;
  return {
    messageId: messageIdOf(id, from),
    to,
    unsubscribeUrl: refusalUrl,
    from: { name: project.name, address: settings?.fromAddress ?? null },
    replyTo: settings?.replyTo ?? null,
    logo,
    ...composeCustomerMail(mail, language, refusalUrl),
  };
}

/** The project whose mails the link of a mail would end; null: there is no such link. */
export async function refusalOf(app: App, token: string): Promise<{ readonly projectId: string } | null> {
  const hash = tokenHash(token);
  const customer = hash && (await findRefusalLink(app.db, hash));
  if (customer === null || (await findProject(app.db, customer.projectId)) === null) return null;
  return { projectId: customer.projectId };
}

/** Mails the customer who holds the link no more about payments of its project; null: there is no such link. */
export async function refuseMails(app: App, token: string): Promise<{ readonly projectId: string } | null> {
  const hash = tokenHash(token);
  const customer = hash && (await findRefusalLink(app.db, hash));
  if (customer === null) return null;
  await refuse(app.db, customer, app.clock());
  return { projectId: customer.projectId };
}
