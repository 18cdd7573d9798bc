import { keepRates } from '../app/dashboard/keep-currency-rates.ts';
import { addUpFigures } from '../app/dashboard/add-up-figures.ts';
import { createDeliverer, type WebhookDelivery } from '../app/webhooks/deliver-due.ts';
import { moveStrayMessages } from '../app/webhooks/record-messages.ts';
import { numberDue } from '../app/webhooks/number-events.ts';
import type { App } from '../app/context.ts';
import { enqueueDailyPaymentMails } from '../app/notifications/daily-payment-mails.ts';
import { followPayments } from '../app/notifications/follow-payments.ts';
import type { Noticing } from '../app/notifications/notice.ts';
import { remindBuyers } from '../app/notifications/invoice-mails.ts';
import type { Mailer } from '../app/notifications/send-mails.ts';
import { purgeOld } from '../app/purge-old.ts';
import { runDueRefunds } from '../app/refunds/end-refunds.ts';
import { settleDueRequests } from '../app/payment-requests/settle-requests.ts';
import { runDue } from '../app/payments/run-due.ts';
import type { Problems } from '../domain/problems.ts';
import type { Notifications } from '../store/notifications.ts';
import { startLoop, type Loop } from './loop.ts';

export interface Workers {
  /**
   * Takes nothing new and resolves when running work is done and recorded, or after `graceMs`. Closing the sender then
   * cuts short the remaining attempts, which are not recorded and are made again when their leases end.
   */
  stop(graceMs: number): Promise<void>;
}

/** The dependencies of the workers, and the work for people of the dashboard; null if there is none. */
export interface WorkerParts {
  readonly mailer?: Mailer | null;
  readonly noticing?: Noticing | null;
  /** Resolves when the clock was compared with all of its sources. */
  readonly judged?: Promise<void>;
  /** How long events are kept; null: for ever. */
  readonly eventLifetimeMs?: number | null;
}

/** Due payments are processed in batches small enough that a request waiting behind one hardly notices. */
const DUE_BATCH = 250;
const DUE_REST_MS = 250;
const DELIVERY_REST_MS = 500;
/** A reader who waits for the next event waits for this and two commits. */
const NUMBER_REST_MS = 40;
const FIGURES_REST_MS = 1_000;
const RATES_REST_MS = 60_000;
const MAIL_REST_MS = 2_000;
const DAILY_REST_MS = 30_000;
const NOTICE_REST_MS = 5_000;
const FORGET_REST_MS = 10 * 60_000;

/**
 * Starts the workers of a process: due payments and refunds, deliveries, the log of events, figures, attention items,
 * mails, and purging old records.
 */
export function startWorkers(
  app: App,
  webhooks: WebhookDelivery,
  notifications: Notifications,
  problems: Problems,
  { mailer = null, noticing = null, judged = Promise.resolve(), eventLifetimeMs = null }: WorkerParts = {},
): Workers {
  /** Work that must not run with a wrong clock, because nobody can undo it. */
  const byTime = (work: () => Promise<boolean>) => async (): Promise<boolean> => {
    await judged;
    return app.clockState?.().isWrong === true ? false : work();
  };
  const loop = (name: string, restMs: number, work: () => Promise<boolean>): Loop =>
    startLoop({ name, work, restMs, problems });
  // The deliverer wakes the loop that drives it, so one of the two must be referenced before it exists.
  let deliveries: Loop | null = null;
  const deliverer = createDeliverer(app, webhooks, { onFree: () => deliveries?.wake(), problems });
  deliveries = loop('deliveries', DELIVERY_REST_MS, () => deliverer.takeDue());
  notifications.on('deliveries', () => deliveries.wake());
  const payments = loop(
    'payments due',
    DUE_REST_MS,
    byTime(async () => (await runDue(app, DUE_BATCH)) === DUE_BATCH),
  );
  const requests = loop(
    'payment requests due',
    DUE_REST_MS,
    byTime(async () => (await settleDueRequests(app, DUE_BATCH)) === DUE_BATCH),
  );
  const refunds = loop(
    'refunds due',
    DUE_REST_MS * 2,
    byTime(async () => (await runDueRefunds(app, DUE_BATCH)) === DUE_BATCH),
  );
  const numbering = loop('numbering events', NUMBER_REST_MS, () => numberDue(app));
  const figures = loop('figures', FIGURES_REST_MS, () => addUpFigures(app));
  const rates = loop(
    'rates',
    RATES_REST_MS,
    byTime(() => keepRates(app)),
  );
  const forgetting = loop(
    'forgetting',
    FORGET_REST_MS,
    byTime(async () => {
      await moveStrayMessages(app);
      return purgeOld(app, eventLifetimeMs);
    }),
  );

  const people = [
    ...(mailer === null ? [] : mailLoops(app, mailer, byTime, problems)),
    ...(noticing === null ? [] : [loop('attention', NOTICE_REST_MS, () => noticing.notice())]),
  ];

  return {
    stop: async (graceMs) => {
      const loops = [payments, requests, refunds, deliveries, numbering, figures, rates, forgetting, ...people].map(
        (loop) => loop.stop(),
      );
      const stopped = Promise.all([...loops, deliverer.stop()]);
      await Promise.race([stopped, new Promise<void>((resolve) => setTimeout(resolve, graceMs).unref())]);
    },
  };
}

/** The loops that make mails about payments, and send all mails. */
function mailLoops(
  app: App,
  mailer: Mailer,
  byTime: (work: () => Promise<boolean>) => () => Promise<boolean>,
  problems: Problems,
): readonly Loop[] {
  const follow = byTime(() => followPayments(app));
  const sumUp = byTime(async () => {
    await enqueueDailyPaymentMails(app);
    return remindBuyers(app);
  });
  return [
    startLoop({ name: 'mails', work: () => mailer.sendDue(), restMs: MAIL_REST_MS, problems }),
    startLoop({ name: 'mails about payments', work: follow, restMs: MAIL_REST_MS, problems }),
    startLoop({ name: 'daily mails', work: sumUp, restMs: DAILY_REST_MS, problems }),
  ];
}
