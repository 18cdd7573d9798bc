import type { Static, TSchema } from 'typebox';
import { accountContract } from './account/contract.ts';
import { annotationsContract } from './annotations/contract.ts';
import { attentionContract } from './attention/contract.ts';
import { auditContract } from './audit/contract.ts';
import { connectContract } from './connect/contract.ts';
import { customersContract } from './customers/contract.ts';
import { deliveriesContract } from './deliveries/contract.ts';
import { eventLogContract } from './event-log/contract.ts';
import { homeContract } from './home/contract.ts';
import { accessContract, keysContract } from './keys/contract.ts';
import { invoiceDocumentsContract } from './invoice-documents/contract.ts';
import { liveContract } from './live/contract.ts';
import { newPaymentContract } from './new-payment/contract.ts';
import { notificationsContract } from './notifications/contract.ts';
import { paymentListContract } from './payment-list/contract.ts';
import { refundsContract } from './payment-refunds/contract.ts';
import { paymentRequestsContract } from './payment-requests/contract.ts';
import { paymentsContract } from './payments/contract.ts';
import { peopleContract } from './people/contract.ts';
import { refundListContract } from './refunds/contract.ts';
import { reportsContract } from './reports/contract.ts';
import { requestsContract } from './requests/contract.ts';
import { viewsContract } from './saved-views/contract.ts';
import { settingsContract } from './settings/contract.ts';
import { signingContract } from './signing/contract.ts';
import { sweepsContract } from './sweeps/contract.ts';
import { tillContract } from './till/contract.ts';
import { walletsContract } from './wallets/contract.ts';
import { webhooksContract } from './webhooks/contract.ts';

/**
 * Every route below `/dashboard/api`, by `METHOD /path`. The server validates with these schemas; the browser imports
 * their types.
 */
export const CONTRACT = {
  ...accountContract,
  ...notificationsContract,
  ...peopleContract,
  ...auditContract,
  ...keysContract,
  ...accessContract,
  ...connectContract,
  ...homeContract,
  ...attentionContract,
  ...paymentsContract,
  ...paymentListContract,
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
  ...customersContract,
  ...paymentRequestsContract,
  ...invoiceDocumentsContract,
  ...signingContract,
  ...tillContract,
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
