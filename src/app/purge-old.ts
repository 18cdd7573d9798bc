import { purgeDeliveriesBefore } from '../store/webhooks/deliveries.ts';
import { purgeAnswersBefore } from '../store/projects/answers.ts';
import { purgeApiRequests } from '../store/projects/api-requests.ts';
import { purgeLogBefore } from '../store/webhooks/event-positions.ts';
import { purgeRetriesBefore } from '../store/webhooks/delivery-retries.ts';
import { purgeMails } from '../store/people/mails.ts';
import { purgeRefusalLinks } from '../store/projects/customer-mails.ts';
import { purgeKeyClients } from '../store/projects/key-clients.ts';
import { purgeSignIns } from '../store/people/sessions.ts';
import type { App } from './context.ts';
import { IDEMPOTENCY_LIFETIME_MS } from './idempotency.ts';

/** Deliveries are kept for 90 days. */
const DELIVERY_LIFETIME_MS = 90 * 24 * 60 * 60_000;
/** Sessions, sign-ins and links leave no other trace: the audit log has them. */
const DAY_MS = 24 * 60 * 60_000;
/** Clients of keys are kept for 30 days. */
const KEY_CLIENT_LIFETIME_MS = 30 * DAY_MS;
const BATCH_ROWS = 2_000;
/** Rows of retries are large: each lists up to 10,000 deliveries. */
const MAX_RETRIES = 5;
/** Calls of the APIs are many and small. */
const API_REQUESTS = { lifetimeMs: 30 * DAY_MS, max: 5_000_000, batch: 20_000 } as const;

/**
 * Deletes expired records in batches: deliveries and retries, calls of the APIs, idempotent answers, clients of keys,
 * sent mails, ended sessions, sign-ins and links, and events older than `eventLifetimeMs` unless that is null. Returns
 * true while there may be more.
 */
export async function purgeOld(app: App, eventLifetimeMs: number | null = null): Promise<boolean> {
  const now = app.clock();
  const deliveries = await purgeDeliveriesBefore(app.db, now - DELIVERY_LIFETIME_MS, BATCH_ROWS);
  const answers = await purgeAnswersBefore(app.db, now - IDEMPOTENCY_LIFETIME_MS, BATCH_ROWS);
  const signIns = await purgeSignIns(
    app.db,
    {
      signedIn: now - 7 * DAY_MS,
      lastUsed: now - DAY_MS,
      signIns: now - DAY_MS / 24,
      // Kept a while longer, so that a used link still says that it was used.
      links: now - 7 * DAY_MS,
      browsers: now - 180 * DAY_MS,
    },
    BATCH_ROWS,
  );
  const clients = await purgeKeyClients(app.db, now - KEY_CLIENT_LIFETIME_MS, BATCH_ROWS);
  const retries = await purgeRetriesBefore(app.db, now - 7 * DAY_MS, MAX_RETRIES);
  const mails = await purgeMails(app.db, { ended: now - 30 * DAY_MS, tokens: now - 180 * DAY_MS }, BATCH_ROWS);
  const refusals = await purgeRefusalLinks(app.db, now - 180 * DAY_MS, BATCH_ROWS);
  const { lifetimeMs, max, batch } = API_REQUESTS;
  const hasMoreRequests = await purgeApiRequests(app.db, { max, oldest: now - lifetimeMs, limit: batch });
  const events =
    eventLifetimeMs === null
      ? 0
      : await app.db.transaction().execute((trx) => purgeLogBefore(trx, now - eventLifetimeMs, BATCH_ROWS));
  const isFull = [deliveries, answers, signIns, clients, mails, refusals].includes(BATCH_ROWS);
  return isFull || events > 0 || retries === MAX_RETRIES || hasMoreRequests;
}
