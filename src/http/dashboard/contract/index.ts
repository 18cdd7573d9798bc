import type { Static, TSchema } from 'typebox';
import { accountContract } from './account.ts';
import { annotationsContract } from './annotations.ts';
import { attentionContract } from './attention.ts';
import { auditContract } from './audit.ts';
import { deliveriesContract } from './deliveries.ts';
import { eventLogContract } from './event-log.ts';
import { exportContract } from './export.ts';
import { accessContract, keysContract } from './keys.ts';
import { homeContract } from './home.ts';
import { liveContract } from './live.ts';
import { newPaymentContract } from './new-payment.ts';
import { notificationsContract } from './notifications.ts';
import { paymentsContract } from './payments.ts';
import { peopleContract } from './people.ts';
import { refundListContract } from './refund-list.ts';
import { reportsContract } from './reports.ts';
import { walletsContract } from './wallets.ts';
import { sweepsContract } from './sweeps.ts';
import { settingsContract } from './settings.ts';
import { projectsContract } from './projects.ts';
import { requestsContract } from './requests.ts';
import { searchContract } from './search.ts';
import { signingContract } from './signing.ts';
import { viewsContract } from './views.ts';
import { webhooksContract } from './webhooks.ts';
import { refundsContract } from './payment-refunds.ts';

/**
 * Every route below `/dashboard/api`, by `METHOD /path`. The server validates with these schemas; the browser imports
 * their types.
 */
export const CONTRACT = {
  ...accountContract,
  ...notificationsContract,
  ...peopleContract,
  ...projectsContract,
  ...auditContract,
  ...keysContract,
  ...accessContract,
  ...homeContract,
  ...attentionContract,
  ...paymentsContract,
  ...searchContract,
  ...exportContract,
  ...viewsContract,
  ...newPaymentContract,
  ...refundsContract,
  ...annotationsContract,
  ...liveContract,
  ...webhooksContract,
  ...deliveriesContract,
  ...eventLogContract,
  ...requestsContract,
  ...settingsContract,
  ...sweepsContract,
  ...walletsContract,
  ...reportsContract,
  ...refundListContract,
  ...signingContract,
} as const;

export type Contract = typeof CONTRACT;
export type RouteName = keyof Contract;

type Part<Name extends RouteName, Key extends string> =
  Contract[Name] extends Readonly<Record<Key, infer Schema extends TSchema>> ? Static<Schema> : undefined;

/** Parts of a route's request and answer; undefined if it has no such part. */
export type ParamsOf<Name extends RouteName> = Part<Name, 'params'>;
export type QueryOf<Name extends RouteName> = Part<Name, 'query'>;
export type BodyOf<Name extends RouteName> = Part<Name, 'body'>;
export type AnswerOf<Name extends RouteName> = Part<Name, 'answer'>;
