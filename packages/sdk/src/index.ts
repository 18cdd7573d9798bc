export type * from './api.generated.ts';
export { Cointill } from './cointill.ts';
export { Connection, type CallOptions, type Options } from './connection.ts';
export { GapError, type Consuming, type Gap, type LoggedEvent } from './consume.ts';
export {
  AuthenticationError,
  CointillError,
  ConflictError,
  ConnectionError,
  GoneError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  type ErrorFacts,
} from './errors.ts';
export type { Event, EventType, UnknownEvent } from './event.ts';
export { Events } from './events.ts';
export { Invoices } from './invoices.ts';
export { List } from './list.ts';
export { Orders } from './orders.ts';
export { PaymentRequests } from './payment-requests.ts';
export { Refunds } from './refunds.ts';
export { signedRequest, type SignedRequest } from './signed-request.ts';
export { TestHelpers } from './test-helpers.ts';
export { Transactions } from './transactions.ts';
export { verifyWebhook, WebhookError, Webhooks } from './webhooks.ts';
export type { ReceivedRequest, Secret, VerifyOptions, WebhookRefusal } from './webhooks.ts';
