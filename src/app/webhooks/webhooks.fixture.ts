import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { sql } from 'kysely';
import { expect, onTestFinished, vi } from 'vitest';
import { testApp, type TestApp } from '../../../test/harness.ts';
import type { EventType } from '../../domain/event-type.ts';
import { timestamp, type Trx } from '../../store/database.ts';
import { listDeliveries, type DeliverySummary } from '../../store/webhooks/deliveries.ts';
import type { WebhookEndpoint } from '../../store/webhooks/webhook-endpoints.ts';
import type { WebhookPolicy } from '../../webhooks/guard.ts';
import { receive, type LocalReceiver, type ReceivedRequest } from '../../webhooks/local-receivers.fixture.ts';
import { createWebhookSender, type WebhookSender } from '../../webhooks/send.ts';
import type { SealingKeys } from '../../webhooks/secret.ts';
import { createDeliverer, type Deliverer, type WebhookDelivery } from './deliver-due.ts';
import { createEndpoint } from './webhook-endpoints.ts';
import { DEADLINE_MS } from '../../../test/deadline.ts';
import { noteProblems } from '../../../test/problems.ts';
import type { Observer } from '../observer.ts';

/** Live endpoints too are receivers on this machine. */
const policyOf = (): WebhookPolicy => ({ mode: 'test', production: false, allowCidrs: [] });

/**
 * The application with everything that sends webhooks. An attempt lasts as long as the app's clock was moved meanwhile.
 */
export interface WebhookApp extends WebhookDelivery {
  readonly app: TestApp;
  readonly faults: readonly unknown[];
  /** A deliverer of its own, like that of another process; it ends with the test. */
  readonly deliverer: (other?: Partial<WebhookDelivery>) => Deliverer;
  /** Like that of a restarted process. */
  readonly newSender: () => WebhookSender;
  readonly register: (
    url: string,
    options?: Partial<Parameters<typeof createEndpoint>[3]>,
  ) => Promise<{ readonly id: string; readonly secret: string; readonly endpoint: WebhookEndpoint }>;
  /** The endpoint's delivery log, the oldest delivery first. */
  readonly log: (endpointId: string) => Promise<readonly DeliverySummary[]>;
}

export async function webhookApp(
  options: { readonly observer?: Observer; readonly app?: TestApp; readonly sealingKeys?: SealingKeys } = {},
): Promise<WebhookApp> {
  const { app = await testApp(options), sealingKeys = [randomBytes(32)] } = options;
  const faults: unknown[] = [];
  const newSender = (): WebhookSender => {
    const sender = createWebhookSender({ policyOf, now: app.clock });
    onTestFinished(() => sender.close(0));
    return sender;
  };
  const webhooks = { sender: newSender(), sealingKeys };
  return {
    ...webhooks,
    app,
    faults,
    newSender,
    deliverer: (other = {}) => {
      const used = { ...webhooks, ...other };
      const deliverer = createDeliverer(app, used, {
        onFree: () => {},
        problems: noteProblems(({ problem }) => void faults.push(problem)),
      });
      onTestFinished(async () => {
        await Promise.all([deliverer.stop(), used.sender.close(0)]);
      });
      return deliverer;
    },
    register: async (url, options = {}) => {
      const request = { projectId: app.projectId, mode: 'test', url, events: 'all', ...options } as const;
      const made = await createEndpoint(app, sealingKeys, policyOf, request);
      if (made.kind !== 'done') throw new Error(made.code);
      return { id: made.endpoint.id, secret: made.secret, endpoint: made.endpoint };
    },
    log: async (endpointId) => (await listDeliveries(app.db, endpointId, 20_000)).toReversed(),
  };
}

/** The application with one event that is due to a receiver. */
export async function eventDueTo(receiver: Shop) {
  const webhooks = await webhookApp();
  const { id } = await webhooks.register(receiver.url);
  await webhooks.app.pay();
  return { ...webhooks, id };
}

/** A deliverer that has sent the first 136 of 300 deliveries, 128 of which wait for the answers `under` way. */
export async function sendingBacklog() {
  const webhooks = await webhookApp();
  const receiver = await silentShop();
  const { id, endpoint } = await webhooks.register(receiver.url);
  await insertBacklog(webhooks.app, endpoint, 300);
  const process = webhooks.deliverer();
  await process.takeDue();
  // A first answer makes the process take ahead.
  for (let index = 0; index < 8; index += 1) (await receiver.next()).end();
  await process.idle();
  await process.takeDue();
  const under = await Promise.all(Array.from({ length: 128 }, () => receiver.next()));
  return { ...webhooks, receiver, id, process, under };
}

/** Takes and sends until nothing is due. */
export async function deliverAll(app: TestApp, deliverer: Deliverer): Promise<void> {
  for (let isDue = true; isDue;) {
    await deliverer.takeDue();
    await deliverer.idle();
    const due = app.db.selectFrom('deliveries').select('id').where('next_attempt_at', '<=', timestamp(app.clock()));
    isDue = (await due.executeTakeFirst()) !== undefined;
  }
}

export interface Shop extends LocalReceiver {
  readonly url: string;
}

/** A receiver with the given answers, by default 200. It closes with the test. */
export async function shop(
  answer: (response: ServerResponse, request: ReceivedRequest) => void = (response) => void response.end('ok'),
): Promise<Shop> {
  const receiver = await receive(answer);
  onTestFinished(receiver.close);
  return { ...receiver, url: `http://127.0.0.1:${receiver.port}/hooks` };
}

/** A receiver that does not answer until the test does. */
export interface SilentShop extends Shop {
  /** The next request that nobody has asked for yet, as soon as it is there. */
  readonly next: () => Promise<ServerResponse>;
}

export async function silentShop(): Promise<SilentShop> {
  const unasked: ServerResponse[] = [];
  const asking: ((response: ServerResponse) => void)[] = [];
  const receiver = await shop((response) => {
    const resolve = asking.shift();
    if (resolve === undefined) unasked.push(response);
    else resolve(response);
  });
  return {
    ...receiver,
    next: () => {
      const response = unasked.shift();
      return response === undefined ? new Promise((resolve) => asking.push(resolve)) : Promise.resolve(response);
    },
  };
}

/** Events that wait for one endpoint, written by SQL as fast as the database can. */
export async function insertBacklog(app: TestApp, endpoint: WebhookEndpoint, count: number): Promise<void> {
  const type: EventType = 'order.created';
  const createdAt = new Date(app.clock());
  await sql`
    with made as (
      insert into events (id, project_id, mode, type, body, created_at)
      select gen_random_uuid(), ${endpoint.projectId}, ${endpoint.mode}, ${type}, '{"n":' || n || '}', ${createdAt}
      from generate_series(1, ${count}::int) n returning id
    )
    insert into deliveries (event_id, endpoint_id, state, next_attempt_at, created_at)
    select id, ${endpoint.id}, 'waiting', ${createdAt}, ${createdAt} from made`.execute(app.db);
}

/** Resolves when so many statements wait for what others have locked. */
export function blockedStatements(app: TestApp, statements: number): Promise<void> {
  return vi.waitFor(
    async () => {
      const { rows } = await sql`select pid from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(app.db);
      expect(rows).toHaveLength(statements);
    },
    { interval: 5, timeout: DEADLINE_MS },
  );
}

/** A transaction that waits for others, as no transaction of the program does. */
export function waitingTransaction<Result>(app: TestApp, during: (trx: Trx) => Promise<Result>): Promise<Result> {
  return app.db.transaction().execute(async (trx) => {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx);
    return during(trx);
  });
}

/** Keeps every statement on the deliveries waiting while `during` runs; `blocked` resolves when so many wait. */
export function withDeliveriesLocked<Result>(
  app: TestApp,
  during: (blocked: (statements: number) => Promise<void>) => Promise<Result>,
): Promise<Result> {
  return waitingTransaction(app, async (trx) => {
    await sql`lock table deliveries in access exclusive mode`.execute(trx);
    return during((statements) => blockedStatements(app, statements));
  });
}
