import { accentColours, THEMES } from '../../wire/accent.ts';
import type { CoinFact, CustomerMail, SavedCustomerMail, ShopFact } from '../../domain/mail-content.ts';
import { isEmail } from '../../domain/mail-address.ts';
import { formatDecimal } from '../../domain/money.ts';
import type { Payment, Quote } from '../../domain/payment.ts';
import { findPayments } from '../../store/payments/payments.ts';
import {
  customerOf,
  findCustomerMails,
  hasRefused,
  languageOfPayment,
  type CustomerMailSettings,
} from '../../store/projects/customer-mails.ts';
import { findLogo, findProject, type Project } from '../../store/projects/projects.ts';
import { findRefund } from '../../store/refunds/refunds.ts';
import { claimUrl } from '../../wire/refund.ts';
import { paymentUrl } from '../../wire/payment.ts';
import type { App } from '../context.ts';
import { peoplesAddresses } from './customer-mail-shops.ts';
import { nameOf } from './payment-facts.ts';

/** A mail to a customer with everything that it needs, as it is now. */
export interface CustomerMailFacts {
  readonly to: string;
  readonly mail: CustomerMail;
  readonly language: string;
  /** The sender and where replies go; null: the service's. */
  readonly settings: Pick<CustomerMailSettings, 'fromAddress' | 'replyTo'> | null;
  readonly project: Project;
  readonly logo: { readonly type: string; readonly bytes: Buffer } | null;
}

/** The content of a mail to a customer; null: it is not so any more, for instance since their data were deleted. */
export async function customerMailFacts(
  app: App,
  paymentId: string,
  saved: SavedCustomerMail,
): Promise<CustomerMailFacts | null> {
  const [payment] = await findPayments(app.db, [paymentId]);
  const to = payment?.customerEmail ?? null;
  if (payment === undefined || to === null || !isEmail(to)) return null;
  const { projectId, mode } = payment;
  const [project, settings] = await Promise.all([findProject(app.db, projectId), findCustomerMails(app.db, projectId)]);
  if (project?.active !== true || settings?.isOn !== true) return null;
  if (!(await peoplesAddresses(app.db))({ projectId, mode, email: to })) return null;
  if (await hasRefused(app.db, customerOf(projectId, to))) return null;
  const news = await newsOf(app, payment, saved);
  if (news === null) return null;
  const fact = {
    name: nameOf(payment),
    currency: payment.currency,
    minor: String(payment.amountMinor),
    pageUrl: paymentUrl(payment, app.links),
    isTest: mode === 'test',
  };
  return {
    to,
    mail: { shop: shopOf(project), payment: fact, ...news },
    language: (await languageOfPayment(app.db, paymentId)) ?? settings.language,
    settings,
    project,
    logo: project.logo === null ? null : await findLogo(app.db, project.logo.hash),
  };
}

/** White is legible on colours of the light scheme. */
const LIGHT = THEMES.find(({ scheme }) => scheme === 'light');

/** The looks of a shop in its mails. */
export function shopOf({ name, accent, logo, supportUrl }: Project): ShopFact {
  const legible = accent === null || LIGHT === undefined ? null : accentColours(accent, LIGHT).accent;
  return {
    name,
    accent: legible === null ? null : legible.slice(1),
    logo: logo && { width: logo.width, height: logo.height },
    supportUrl,
  };
}

type News = CustomerMail extends infer Mail ? (Mail extends unknown ? Omit<Mail, 'shop' | 'payment'> : never) : never;

/** The news of the mail beside its payment; null if they are none any more. */
async function newsOf(app: App, payment: Payment, saved: SavedCustomerMail): Promise<News | null> {
  const { quote, received, status, exception } = payment;
  switch (saved.kind) {
    case 'receipt': {
      if (status !== 'completed') return null;
      const paid = quote && coinFact(received.all.confirmedUnits, quote);
      return { kind: 'receipt', paid, at: payment.completedAt ?? payment.createdAt };
    }
    case 'part_arrived': {
      if (quote === null || status !== 'pending' || exception !== 'underpaid') return null;
      const { seenUnits } = received.all;
      const coin = (units: bigint): CoinFact => coinFact(units, quote);
      return {
        kind: 'part_arrived',
        received: coin(seenUnits),
        owed: coin(quote.owedUnits),
        missing: coin(quote.owedUnits - seenUnits),
        until: payment.graceUntil ?? payment.expiresAt,
      };
    }
    case 'refund_claim': {
      const refund = await findRefund(app.db, saved.refundId);
      const url = refund && claimUrl(refund, app.links);
      if (refund === null || url === null || refund.paymentId !== payment.id) return null;
      return {
        kind: 'refund_claim',
        currency: refund.currency,
        minor: String(refund.amountMinor),
        coin: coinFact(refund.units, refund),
        claimUrl: url,
        until: refund.dueAt ?? refund.createdAt,
      };
    }
  }
}

function coinFact(
  units: bigint,
  { decimals, asset, network }: Pick<Quote, 'decimals' | 'asset' | 'network'>,
): CoinFact {
  return { amount: formatDecimal(units, decimals), asset, network };
}
