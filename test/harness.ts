import { randomBytes } from 'node:crypto';
import { newProcessMemory, type App } from '../src/app/context.ts';
import type { IdempotencyRequest } from '../src/app/idempotency.ts';
import type { Observer } from '../src/app/observer.ts';
import { createDocumentRenderer, type DocumentRenderer } from '../src/documents/renderer.ts';
import { createPaymentCreator, type PaymentCreator } from '../src/app/payments/create-payment.ts';
import type { NewPayment } from '../src/app/payments/draft-payment.ts';
import { RIGHT_CLOCK, type ClockState } from '../src/app/service-clock.ts';
import { createProject } from '../src/app/projects/projects.ts';
import type { Rail } from '../src/modes/rail.ts';
import { sandboxRail } from '../src/modes/sandbox-rail.ts';
import { NO_MERCHANT_FIELDS, type Payment } from '../src/domain/payment.ts';
import type { Mode } from '../src/domain/permission.ts';
import { DEFAULT_POLICY } from '../src/domain/transition.ts';
import { testRates } from '../src/rates/fixed.ts';
import { findPayments } from '../src/store/payments/payments.ts';
import { testDatabase, type TestDatabase } from './database.ts';

/** A clock that only the test moves. */
export interface ManualClock {
  (): number;
  advance(ms: number): void;
  set(at: number): void;
}

export function manualClock(startAt: number = Date.UTC(2026, 5, 15, 12)): ManualClock {
  let now = startAt;
  return Object.assign(() => now, {
    advance: (ms: number) => void (now += ms),
    set: (at: number) => void (now = at),
  });
}

/** The application on a database of its own, with a clock that the test drives. */
export interface TestApp extends App {
  readonly clock: ManualClock;
  readonly database: TestDatabase;
  readonly projectId: string;
  readonly creator: PaymentCreator;
  readonly renderer: DocumentRenderer;
  /** From now on the clock is judged so. */
  judgeClock(state: ClockState): void;
  /** Creates a payment and returns it as it was saved. */
  pay(overrides?: Partial<NewPayment>): Promise<Payment>;
  /** The payment as it is now. */
  read(id: string): Promise<Payment>;
}

export const COMPLETE_AFTER_MS = 60_000;

/** Builds the application; `live` replaces the rail of live mode, `database` is one that outlives the test. */
export async function testApp(
  options: {
    readonly live?: (database: TestDatabase) => Rail;
    readonly database?: TestDatabase;
    readonly observer?: Observer;
  } = {},
): Promise<TestApp> {
  const database = options.database ?? (await testDatabase());
  const clock = manualClock();
  const sandbox = sandboxRail(testRates(), COMPLETE_AFTER_MS);
  const rails: Record<Mode, Rail> = { test: sandbox, live: options.live?.(database) ?? sandbox };
  let clockState = RIGHT_CLOCK;
  const app: App = {
    db: database.db,
    clock,
    clockState: () => clockState,
    random: randomBytes,
    railFor: (mode) => rails[mode],
    links: { checkoutUrl: { live: 'https://pay.example', test: 'https://sandbox.pay.example' } },
    policy: DEFAULT_POLICY,
    memory: newProcessMemory(),
    observer: options.observer,
  };
  const project = await createProject(app, 'Shop');
  if (project.kind !== 'done') throw new Error(project.code);
  const creator = createPaymentCreator(app, database.pipeline);
  const renderer = createDocumentRenderer(null);
  const read = async (id: string): Promise<Payment> => {
    const [payment] = await findPayments(app.db, [id]);
    if (payment === undefined) throw new Error(`There is no payment ${id}`);
    return payment;
  };
  return {
    ...app,
    clock,
    database,
    projectId: project.project.id,
    creator,
    renderer,
    judgeClock: (state) => void (clockState = state),
    read,
    pay: async (overrides = {}) => {
      const request = newPayment(project.project.id, overrides);
      let id = '';
      const outcome = await creator.create(request, (payment) => ((id = payment.id), payment.id), null);
      if (outcome.kind !== 'done') throw new Error(JSON.stringify(outcome));
      return read(id);
    },
  };
}

/** The idempotency data of a request for an order with an `Idempotency-Key`. */
export function keyedRequest(projectId: string, key: string): IdempotencyRequest {
  return { projectId, mode: 'test', route: 'POST /v1/orders', key, bodyHash: Buffer.from('aa') };
}

/** A request for an order of 100 USD in BTC, unless overridden. */
export function newPayment(projectId: string, overrides: Partial<NewPayment> = {}): NewPayment {
  return {
    projectId,
    mode: 'test',
    api: 'order',
    amountMinor: 10_000n,
    currency: 'USD',
    token: { asset: 'BTC', network: null },
    ...NO_MERCHANT_FIELDS,
    lifetimeMs: 30 * 60_000,
    requestId: null,
    ...overrides,
  };
}
