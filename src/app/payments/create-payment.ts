import { coinName, isPayableIn } from '../../domain/coin-choice.ts';
import { storedTransitions } from '../../domain/creation.ts';
import type { Payment } from '../../domain/payment.ts';
import { nextDueAt } from '../../domain/transition.ts';
import type { LockedIssuer, Rail } from '../../modes/rail.ts';
import type { Trx } from '../../store/database.ts';
import type { Ending, Statement, StatementRunner, TransactionRunner } from '../../store/pipeline.ts';
import {
  messagesIn,
  savedDeliveries,
  saveStatement,
  type IdempotentAnswer,
  type PaymentChange,
} from '../../store/payments/save-changes.ts';
import { auditEntry } from '../audit.ts';
import { tillSaleStatement } from '../../store/payments/till-sales.ts';
import { auditStatement } from '../../store/people/audit.ts';
import { publicPaymentId } from '../../domain/payment-kind.ts';
import { createBatcher, type Batcher } from '../batch.ts';
import { auditedPayment } from './change-payment.ts';
import { newId, type App } from '../context.ts';
import { paymentEvents } from '../events.ts';
import {
  answerRow,
  isAnswerConflict,
  wasRolledBack,
  withIdempotency,
  type IdempotencyRequest,
  type Replay,
} from '../idempotency.ts';
import { chooseWanted, draftPayment, takeNumbers, type Draft, type Item, type NewPayment } from './draft-payment.ts';
import { rejected } from '../rejected.ts';
import { createdMessages } from './shop-messages.ts';
import type { TokenRefusal } from './quote-payment.ts';

export type CreateOutcome =
  | { readonly kind: 'done'; readonly body: string }
  /** The clock is wrong, so the payment's times would be too. */
  | { readonly kind: 'wrong_clock'; readonly message: string }
  | Replay
  | TokenRefusal;

interface Fault {
  readonly kind: 'fault';
  readonly error: unknown;
}

/** The project has no wallet for the token, as far as the batch knows. */
interface NoWallet {
  readonly kind: 'no_wallet';
}

type Saved =
  | { readonly kind: 'done'; readonly body: string; readonly change: PaymentChange }
  | { readonly kind: 'answer_conflict' }
  | TokenRefusal
  | NoWallet
  | Fault;

export interface PaymentCreator {
  /** Creates a payment, or replays the answer stored for its idempotency key. Makes no network or chain call. */
  create(
    request: NewPayment,
    present: (payment: Payment) => string,
    idempotency: IdempotencyRequest | null,
  ): Promise<CreateOutcome>;
  /** Resolves when nothing is running. */
  idle(): Promise<void>;
}

/**
 * Payments of a mode that arrive together are saved together (docs/design/group-commit.md), and the next batch is sent
 * while the last one is being saved. Addresses of live orders and numbers of transactions are taken for the whole batch
 * in the transaction that saves it, so that none is used twice or lost; sandbox orders need neither, and one statement
 * saves them.
 */
export function createPaymentCreator(app: App, runner: TransactionRunner): PaymentCreator {
  const createModeSaver = () =>
    createSaver(observed(app, (items) => runner.transaction((trx) => saveTaking(app, trx, items))));
  // Separate savers, so that test requests never use up the places of waiting live ones.
  const savers = { test: createModeSaver(), live: createModeSaver() };
  return {
    idle: async () => {
      await Promise.all([savers.test.idle(), savers.live.idle()]);
    },
    create: (request, present, idempotency) =>
      withIdempotency(app, idempotency, async () => {
        const refusal = app.clockState?.().refusal ?? null;
        if (refusal !== null) return { kind: 'wrong_clock' as const, message: refusal };
        const createdAt = app.clock();
        const rail = app.railFor(request.mode);
        // Without coins nothing is read: a wallet that is set later makes the payment payable, and creating one is hot.
        const unpayable = request.coins === null ? null : await unpayableCoins(rail, request);
        if (unpayable !== null) return unpayable;
        const item = { id: newId(app, createdAt), createdAt, request, rail, present, idempotency };
        const saver = savers[request.mode];
        const saved = await saver.add(item);
        const outcome = saved.kind === 'no_wallet' ? await withoutWallet(item, saver) : saved;
        if (outcome.kind === 'fault') throw outcome.error;
        return outcome;
      }),
  };
}

/** The refusal of what its customer could pay in none of `coins`; of all coins if they are null. */
export async function unpayableCoins(
  rail: Rail,
  { projectId, coins }: Pick<NewPayment, 'projectId' | 'coins'>,
  trx?: Trx,
): Promise<Extract<TokenRefusal, { readonly kind: 'refused' }> | null> {
  const offered = await rail.tokens(projectId, trx);
  if (offered.some((token) => isPayableIn(coins, token))) return null;
  const names = offered.map(coinName).join(', ');
  const chosen = coins === null ? 'coin' : 'of coins';
  return {
    kind: 'refused',
    param: 'coins',
    message: `The project cannot be paid in any ${chosen}. ${names === '' ? 'It has no wallet yet.' : `It offers ${names}.`}`,
    ...(names === '' && { sentence: rejected('no_coins') }),
  };
}

/** Explains what the project lacks. If its wallet was set just now, the payment is created after all. */
async function withoutWallet(item: Item, saver: Batcher<Item, Saved>): Promise<Exclude<Saved, NoWallet>> {
  const choice = await chooseWanted(item.rail, item);
  if (choice !== null && choice.kind !== 'ok') return choice;
  const saved = await saver.add(item);
  if (saved.kind !== 'no_wallet') return saved;
  return { kind: 'fault', error: new Error('The wallet was removed while the order was being created. Try again.') };
}

type SaveBatch = (items: readonly Item[]) => Promise<readonly Saved[]>;

/** Emits how many payments were saved together, and how long that took. */
function observed({ observer }: App, saveBatch: SaveBatch): SaveBatch {
  if (observer === undefined) return saveBatch;
  return async (items) => {
    const startedAt = performance.now();
    const saved = await saveBatch(items);
    const changes = saved.flatMap((one) => (one.kind === 'done' ? [one.change] : []));
    if (changes.length === 0) return saved;
    observer({ kind: 'batch_saved', payments: changes.length, seconds: (performance.now() - startedAt) / 1000 });
    observer({ kind: 'payments_created', changes });
    return saved;
  };
}

/** Saves items in batches, each batch completely or not at all. */
function createSaver(saveBatch: SaveBatch): Batcher<Item, Saved> {
  const saveOneByOne = async (items: readonly Item[]): Promise<readonly Saved[]> => {
    const results: Saved[] = [];
    for (const item of items) {
      try {
        results.push(...(await saveBatch([item])));
      } catch (error) {
        results.push(isAnswerConflict(error) ? { kind: 'answer_conflict' } : { kind: 'fault', error });
      }
    }
    return results;
  };
  return createBatcher({ maxInFlight: 2, maxBatch: 200, maxWaiting: 5_000 }, async (items) => {
    if (items.length === 1) return saveOneByOne(items);
    try {
      return await saveBatch(items);
    } catch (error) {
      // Unless the server itself refused the batch, it may have been saved: never save a batch twice.
      if (!wasRolledBack(error)) throw error;
      // One bad row must not fail the others: each item is tried alone and gets its own answer.
      return saveOneByOne(items);
    }
  });
}

/**
 * In an open transaction, takes addresses and numbers for the items and returns the statements that save them. Refused
 * items take neither.
 */
async function saveTaking(
  app: App,
  runner: StatementRunner,
  items: readonly Item[],
): Promise<Ending<readonly Saved[]>> {
  const issuers = await lockIssuers(runner, items);
  const drafted: (Draft | TokenRefusal | NoWallet | Fault)[] = [];
  for (const item of items) {
    const issuer = issuers.get(item.rail);
    try {
      const choice = await chooseWanted(issuer ?? item.rail, item);
      // The project may have more wallets than the locked ones: the rail itself says which tokens it offers.
      drafted.push(
        issuer !== undefined && choice !== null && choice.kind !== 'ok'
          ? { kind: 'no_wallet' }
          : await draftPayment(app, issuer ?? item.rail, item, choice),
      );
    } catch (error) {
      drafted.push({ kind: 'fault', error });
    }
  }
  const drafts = drafted.filter((one) => one.kind === 'draft');
  const numbers = await takeNumbers(runner, drafts);
  const { saved, statements } = makeBatch(app, drafts, numbers);
  const results = saved.values();
  return {
    result: drafted.map((one) => (one.kind === 'draft' ? (results.next().value ?? MISSING) : one)),
    statements:
      statements.length === 0
        ? []
        : [
            ...[...issuers.values()].flatMap((issuer) => issuer.taken()),
            ...statements,
            ...tillStatements(drafts),
            ...auditStatements(app, drafts),
          ],
    wakeups: (answers) => (answers.some(savedDeliveries) ? [['deliveries']] : []),
  };
}

/** The records of payments that are made at the till. */
function tillStatements(drafts: readonly Draft[]): readonly Statement[] {
  return drafts.flatMap(({ payment: { id: paymentId, projectId, mode, createdAt }, item: { request } }) =>
    request.till === undefined ? [] : [tillSaleStatement({ ...request.till, paymentId, projectId, mode, createdAt })],
  );
}

/** The audit entries of payments that a person made. */
function auditStatements(app: App, drafts: readonly Draft[]): readonly Statement[] {
  return drafts.flatMap(({ payment, item: { request } }) => {
    const { by: actor, requestId } = request;
    if (actor === undefined) return [];
    const by = { ...app, actor, requestId: requestId ?? undefined };
    return auditStatement(
      auditEntry(by, {
        action: 'payment.create',
        projectId: payment.projectId,
        subject: { kind: 'payment', id: publicPaymentId(payment) },
        after: auditedPayment(payment),
      }),
    );
  });
}

const MISSING: Fault = { kind: 'fault', error: new Error('The batch gave no result for this item.') };

/**
 * The issuer of these items' addresses, by rail. Rails that need no lock, or of which no address is needed, are left
 * out.
 */
async function lockIssuers(runner: StatementRunner, items: readonly Item[]): Promise<ReadonlyMap<Rail, LockedIssuer>> {
  const issuers = new Map<Rail, LockedIssuer>();
  for (const [rail, group] of Map.groupBy(items, ({ rail }) => rail)) {
    const wanted = group.flatMap(({ request: { projectId, token } }) =>
      token === null ? [] : [{ projectId, ...token }],
    );
    if (rail.lock !== null && wanted.length > 0) issuers.set(rail, await rail.lock(runner, wanted));
  }
  return issuers;
}

/** The statements that save these payments with all their records, and the answer to each request afterwards. */
function makeBatch(
  app: App,
  drafts: readonly Draft[],
  numbers: ReadonlyMap<string, string>,
): { readonly statements: readonly Statement[]; readonly saved: readonly Saved[] } {
  const changes: PaymentChange[] = [];
  const answers: IdempotentAnswer[] = [];
  const saved = drafts.map(({ item, payment: draft, address }): Saved => {
    const numbered = { ...draft, transactionNumber: numbers.get(draft.id) ?? null };
    const by = { random: app.random, requestId: item.request.requestId ?? undefined };
    const { payment, events } = paymentEvents(by, numbered, ['created'], draft.createdAt);
    const body = item.present(payment);
    const dueAt = nextDueAt(payment, app.policy);
    const change = {
      before: null,
      after: payment,
      dueAt,
      transitions: storedTransitions(payment),
      events,
      messages: createdMessages(by, payment),
      address: address ?? undefined,
    };
    changes.push(change);
    if (item.idempotency !== null) answers.push(answerRow(item.idempotency, body, draft.createdAt));
    return { kind: 'done', body, change };
  });
  if (changes.length === 0) return { statements: [], saved };
  const messages = messagesIn(changes);
  return { statements: [saveStatement(changes, 0, answers), ...(messages === null ? [] : [messages])], saved };
}
