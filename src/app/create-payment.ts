import { NO_MONEY, type Payment, type Surface } from '../domain/payment.ts';
import type { Fiat } from '../domain/money.ts';
import type { Mode } from '../domain/permission.ts';
import { nextDueAt } from '../domain/transition.ts';
import { formatTransactionNumber } from '../domain/views.ts';
import { takeTransactionNumbers } from '../store/payments.ts';
import { saveChanges, type IssuedAddress, type PaymentChange } from '../store/save-changes.ts';
import type { StatementRunner } from '../store/pipeline.ts';
import type { Trx } from '../store/database.ts';
import { createBatcher, type Batcher } from './batch.ts';
import { newId, type App } from './context.ts';
import { paymentEvents } from './events.ts';
import {
  answerRow,
  isAnswerConflict,
  wasRolledBack,
  withIdempotency,
  type IdempotencyRequest,
  type Replay,
} from './idempotency.ts';
import { countEvents } from './observer.ts';
import { chooseToken, issuedAddress, priceInUsd, quotePayment, type TokenRefusal } from './quote-payment.ts';

/** A checked request for a payment. Amount in minor units of `currency`; lifetime in milliseconds. */
export interface NewPayment {
  readonly projectId: string;
  readonly mode: Mode;
  readonly surface: Surface;
  readonly amountMinor: bigint;
  readonly currency: Fiat;
  /** Orders name their token; transactions leave it to the customer. */
  readonly token: { readonly asset: string; readonly network: string | null } | null;
  readonly merchantOrderId: string | null;
  readonly description: string | null;
  readonly customerEmail: string | null;
  readonly customerName: string | null;
  readonly successUrl: string | null;
  readonly cancelUrl: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly lifetimeMs: number;
}

export type CreateOutcome = { readonly kind: 'done'; readonly body: string } | Replay | TokenRefusal;

interface Draft {
  readonly payment: Payment;
  readonly address: IssuedAddress | null;
  /** The answer's body; stored with the payment when the request carries an idempotency key. */
  readonly present: (payment: Payment) => string;
  readonly idempotency: IdempotencyRequest | null;
}

type Saved =
  | { readonly kind: 'done'; readonly body: string }
  | { readonly kind: 'answer_conflict' }
  | { readonly kind: 'fault'; readonly error: unknown };

export interface PaymentCreator {
  /** Creates a payment, or replays the answer that its idempotency key got. No network or chain call is made. */
  create(
    request: NewPayment,
    present: (payment: Payment) => string,
    idempotency: IdempotencyRequest | null,
  ): Promise<CreateOutcome>;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

/**
 * Payments that arrive together are saved together (docs/decisions/0004). Orders are saved by one statement on the pipeline,
 * the next batch on its way while the last is being saved; transactions are numbered first, in the same transaction, so
 * that no number is used twice or lost.
 */
export function createPaymentCreator(app: App, pipeline: StatementRunner): PaymentCreator {
  const savers: Readonly<Record<Surface, Batcher<Draft, Saved>>> = {
    order: createSaver(
      2,
      timed(app, (drafts) => save(app, pipeline, drafts, new Map())),
    ),
    transaction: createSaver(
      1,
      timed(app, (drafts) =>
        app.db.transaction().execute(async (trx) => save(app, trx, drafts, await takeNumbers(trx, drafts))),
      ),
    ),
  };
  return {
    idle: async () => {
      await Promise.all(Object.values(savers).map((saver) => saver.idle()));
    },
    create: (request, present, idempotency) =>
      withIdempotency(app, idempotency, async () => {
        const draft = await draftPayment(app, request, present, idempotency);
        if (draft.kind !== 'draft') return draft;
        const saved = await savers[request.surface].add(draft.draft);
        if (saved.kind === 'fault') throw saved.error;
        return saved;
      }),
  };
}

type SaveBatch = (drafts: readonly Draft[]) => Promise<readonly Saved[]>;

/** Tells how many are saved together, and how long that takes. */
function timed({ observer }: App, saveBatch: SaveBatch): SaveBatch {
  if (observer === undefined) return saveBatch;
  return async (drafts) => {
    const startedAt = performance.now();
    const saved = await saveBatch(drafts);
    observer.onBatch(drafts.length, (performance.now() - startedAt) / 1000);
    return saved;
  };
}

/** Saves drafts in batches, each wholly or not at all. */
function createSaver(maxInFlight: number, saveBatch: SaveBatch): Batcher<Draft, Saved> {
  const saveOneByOne = async (drafts: readonly Draft[]): Promise<readonly Saved[]> => {
    const results: Saved[] = [];
    for (const draft of drafts) {
      try {
        results.push(...(await saveBatch([draft])));
      } catch (error) {
        results.push(isAnswerConflict(error) ? { kind: 'answer_conflict' } : { kind: 'fault', error });
      }
    }
    return results;
  };
  return createBatcher({ maxInFlight, maxBatch: 200, maxWaiting: 5_000 }, async (drafts) => {
    if (drafts.length === 1) return saveOneByOne(drafts);
    try {
      return await saveBatch(drafts);
    } catch (error) {
      // Without the server's own word that it refused the batch, the batch may have been saved: never save it twice.
      if (!wasRolledBack(error)) throw error;
      // One bad row must not fail its neighbours: each is tried alone and gets its own answer.
      return saveOneByOne(drafts);
    }
  });
}

async function draftPayment(
  app: App,
  request: NewPayment,
  present: Draft['present'],
  idempotency: IdempotencyRequest | null,
): Promise<{ readonly kind: 'draft'; readonly draft: Draft } | TokenRefusal> {
  const now = app.clock();
  const rail = app.railFor(request.mode);
  // The token before the price: one that cannot be paid with is for the client to change, and no fresh price mends it.
  const choice =
    request.token === null
      ? null
      : await chooseToken(rail, request.projectId, request.token.asset, request.token.network);
  if (choice !== null && choice.kind !== 'ok') return choice;
  const id = newId(app, now);
  const amountUsdCents = priceInUsd(rail, request.amountMinor, request.currency);
  if (amountUsdCents === null) {
    return { kind: 'no_rate', message: `There is no fresh price for ${request.currency}. Try again shortly.` };
  }
  const expiresAt = now + request.lifetimeMs;
  const blank: Payment = {
    id,
    projectId: request.projectId,
    mode: request.mode,
    surface: request.surface,
    status: 'created',
    exception: 'none',
    failureReason: null,
    transactionNumber: null,
    amountMinor: request.amountMinor,
    currency: request.currency,
    amountUsdCents,
    merchantOrderId: request.merchantOrderId,
    description: request.description,
    customerEmail: request.customerEmail,
    customerName: request.customerName,
    successUrl: request.successUrl,
    cancelUrl: request.cancelUrl,
    metadata: request.metadata,
    quote: null,
    ledger: NO_MONEY,
    transactionHash: null,
    completedOnUnits: null,
    createdAt: now,
    expiresAt,
    graceUntil: null,
    completedAt: null,
    cancelledAt: null,
    completesAt: rail.completesAt(now, expiresAt),
    confirmingSent: false,
    lastSequence: 0,
  };
  if (choice === null) return { kind: 'draft', draft: { payment: blank, address: null, present, idempotency } };

  const quoted = await quotePayment(rail, blank, choice.token);
  if (quoted.kind !== 'ok') return quoted;
  const { quote, wallet } = quoted;
  // A payment whose token is given starts out pending: its address is watched from the moment it is saved.
  const payment: Payment = { ...blank, status: 'pending', quote };
  const address = wallet === null ? null : issuedAddress(app, payment, quote, wallet, now);
  return { kind: 'draft', draft: { payment, address, present, idempotency } };
}

/** The number of each transaction of the batch. Counters are raised in one order, so that batches never wait in a ring. */
async function takeNumbers(trx: Trx, drafts: readonly Draft[]): Promise<ReadonlyMap<string, string>> {
  const groups = Map.groupBy(
    drafts.map(({ payment }) => payment),
    (payment) => `${payment.projectId} ${payment.mode} ${new Date(payment.createdAt).getUTCFullYear()}`,
  );
  const numbers = new Map<string, string>();
  for (const key of [...groups.keys()].toSorted()) {
    const payments = groups.get(key) ?? [];
    const [first] = payments;
    if (first === undefined) continue;
    const year = new Date(first.createdAt).getUTCFullYear();
    const start = await takeTransactionNumbers(
      trx,
      { projectId: first.projectId, mode: first.mode, year },
      payments.length,
    );
    for (const [index, payment] of payments.entries())
      numbers.set(payment.id, formatTransactionNumber(year, start + index));
  }
  return numbers;
}

async function save(
  app: App,
  runner: StatementRunner,
  drafts: readonly Draft[],
  numbers: ReadonlyMap<string, string>,
): Promise<readonly Saved[]> {
  const changes: PaymentChange[] = [];
  const saved: { kind: 'done'; body: string }[] = [];
  const answers = [];
  for (const { payment: draft, address, present, idempotency } of drafts) {
    const numberedDraft = { ...draft, transactionNumber: numbers.get(draft.id) ?? null };
    const { payment, events } = paymentEvents(app, numberedDraft, ['order.created'], draft.createdAt);
    const body = present(payment);
    changes.push({
      before: null,
      after: payment,
      dueAt: nextDueAt(payment, app.policy),
      arrows: [],
      events,
      address: address ?? undefined,
    });
    saved.push({ kind: 'done', body });
    if (idempotency !== null) answers.push(answerRow(idempotency, body, draft.createdAt));
  }
  await saveChanges(runner, changes, 0, answers);
  countEvents(app, changes);
  return saved;
}
