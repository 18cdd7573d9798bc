import { PAYMENT_ID_FORMS } from '../domain/payment-kind.ts';
import { Argument, Option, type Command } from 'commander';
import type { ChangeOutcome, PaymentSelector } from '../app/payments/change-payment.ts';
import type { App } from '../app/context.ts';
import { searchTermsOf } from '../app/dashboard/search.ts';
import {
  acceptPayment,
  cancelPayment,
  completeSandboxPayment,
  type NotSandbox,
} from '../app/payments/payment-actions.ts';
import { simulateOutcome } from '../app/sandbox/simulate-outcome.ts';
import type { TokenRefusal } from '../app/payments/quote-payment.ts';
import { PAYMENT_APIS, type Payment, type PaymentApi } from '../domain/payment.ts';
import { MODES, type Mode } from '../domain/permission.ts';
import { MAX_STAGE_SECONDS, SIMULATIONS, STAGED_SIMULATIONS, type Simulation } from '../domain/simulation.ts';
import { PAYMENT_STATUSES, type PaymentStatus } from '../domain/status.ts';
import type { Database } from '../store/database.ts';
import { NO_FILTERS } from '../store/payments/payment-filter.ts';
import { searchPayments } from '../store/payments/payment-list.ts';
import type { SearchTerm } from '../store/payments/search-words.ts';
import { findProject, listProjects } from '../store/projects/projects.ts';
import { commaSeparated, oneOf, paymentSelectorOf, projectIdOf, wholeNumber } from './arguments.ts';
import { UsageFailure } from './failure.ts';
import { noProject } from './refusal.ts';
import { withCointill } from './open.ts';
import { print, printsRecord, writeErrorLines, type OutputOptions } from './output.ts';
import { addAdvanceCommand } from './payment-advance.ts';
import { findPayment, readHistory } from './payment-history.ts';
import {
  afterTheEnd,
  historyLines,
  historyRecord,
  paymentLines,
  paymentRecord,
  paymentTable,
} from './payment-record.ts';
import { changed, type PaymentAction } from './payment-refusal.ts';

interface ListOptions extends OutputOptions {
  readonly project?: string;
  readonly mode?: Mode;
  readonly surface?: PaymentApi;
  readonly status?: readonly PaymentStatus[];
  readonly search?: string;
  readonly limit: number;
  readonly offset: number;
}

interface SimulateOptions extends OutputOptions {
  readonly stages?: number;
}

const MAX_LIMIT = 100;
const MAX_OFFSET = 10_000;

/** `cointill payment list|show|advance|complete|simulate|accept|cancel`. */
export function addPaymentCommands(payment: Command): void {
  printsRecord(payment.command('list').description('list payments, newest first'))
    .option('--project <id>', 'only payments of this project', projectIdOf)
    .addOption(new Option('--mode <mode>', 'only payments in this mode').choices(MODES))
    .addOption(new Option('--surface <surface>', 'only payments created through this API').choices(PAYMENT_APIS))
    .option(
      '--status <statuses>',
      'only payments with these statuses, comma-separated, such as pending,confirming',
      statusesOf,
    )
    .option(
      '--search <text>',
      'only payments that contain these words, for example in the order ID, customer, description, amount or notes',
    )
    .option('--limit <n>', `how many, 1 to ${MAX_LIMIT}`, wholeNumber(1, MAX_LIMIT), 50)
    .option('--offset <n>', `how many to skip, 0 to ${MAX_OFFSET}`, wholeNumber(0, MAX_OFFSET), 0)
    .action(({ project, status, search, ...options }: ListOptions) =>
      withCointill(async ({ app }) => {
        const payments = await listAllPayments(app.db, {
          ...options,
          projectId: project ?? null,
          statuses: status ?? null,
          terms: searchTermsOf(search ?? ''),
        });
        const records = payments.map((one) => paymentRecord(one, app.links));
        print(options, records, () => paymentTable(payments));
      }),
    );

  printsRecord(payment.command('show').description('show a payment with its timeline, events and transfers'))
    .argument('<id>', PAYMENT_ID_FORMS, paymentSelectorOf)
    .action((selector: PaymentSelector, options: OutputOptions) =>
      withCointill(async ({ app }) => {
        const found = await findPayment(app.db, selector);
        const history = await readHistory(app.db, found);
        const record = { ...paymentRecord(found, app.links), ...historyRecord(history, found.quote) };
        print(options, record, () => [...paymentLines(found, app.links), ...historyLines(history, found.quote)]);
      }),
    );

  addAdvanceCommand(payment);
  addAction(payment, 'complete', 'complete a test payment now, without waiting for its timer', completeSandboxPayment);
  addAction(payment, 'accept', 'accept the confirmed money as full payment', acceptPayment);
  addAction(payment, 'cancel', 'cancel a payment that has received no money', cancelPayment);

  printsRecord(
    payment.command('simulate').description('take a test payment through the same steps as real money would'),
  )
    .argument('<id>', PAYMENT_ID_FORMS)
    .addArgument(new Argument('<outcome>', 'the simulated outcome').choices(SIMULATIONS))
    .option(
      '--stages <seconds>',
      `for ${oneOf(STAGED_SIMULATIONS)}: the length of each stage (detected, confirming, completed), 1 to ${MAX_STAGE_SECONDS}`,
      wholeNumber(1, MAX_STAGE_SECONDS),
    )
    .action((id: string, simulation: Simulation, { stages, ...options }: SimulateOptions) => {
      if (stages !== undefined && !STAGED_SIMULATIONS.includes(simulation)) {
        throw new UsageFailure(
          `--stages works only with ${oneOf(STAGED_SIMULATIONS)}, because ${simulation} has only one stage.`,
        );
      }
      const stageMs = stages === undefined ? null : stages * 1_000;
      return act('simulate', id, options, async (app, selector) => {
        const before = await findPayment(app.db, selector);
        const outcome = await simulateOutcome(app, selector, simulation, stageMs);
        if (outcome.kind === 'changed') writeErrorLines(afterTheEnd(before, outcome.payment));
        return outcome;
      });
    });
}

type Act = (app: App, selector: PaymentSelector) => Promise<ChangeOutcome<TokenRefusal | NotSandbox>>;

function addAction(payment: Command, action: PaymentAction, description: string, run: Act): void {
  printsRecord(payment.command(action).description(description))
    .argument('<id>', PAYMENT_ID_FORMS)
    .action((id: string, options: OutputOptions) => act(action, id, options, run));
}

function act(action: PaymentAction, id: string, options: OutputOptions, run: Act): Promise<void> {
  const selector = paymentSelectorOf(id);
  return withCointill(async ({ app }) => {
    const payment = changed(await run(app, selector), action, id);
    print(options, paymentRecord(payment, app.links), () => paymentLines(payment, app.links));
  });
}

/** Parses `--status`: payment statuses separated by commas. */
function statusesOf(text: string): readonly PaymentStatus[] {
  const known: readonly string[] = PAYMENT_STATUSES;
  const names = commaSeparated(text);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined || names.length === 0) {
    throw new UsageFailure(`--status: "${unknown ?? text}" is not one of ${PAYMENT_STATUSES.join(', ')}.`);
  }
  return PAYMENT_STATUSES.filter((status) => names.includes(status));
}

/** One page of payments, newest first: of one project or all, of one mode and API or both. */
async function listAllPayments(
  db: Database,
  wanted: {
    readonly projectId: string | null;
    readonly mode?: Mode;
    readonly surface?: PaymentApi;
    readonly statuses: readonly PaymentStatus[] | null;
    readonly terms: readonly SearchTerm[] | null;
    readonly limit: number;
    readonly offset: number;
  },
): Promise<readonly Payment[]> {
  const projectIds = await projectsOf(db, wanted.projectId);
  const modes = wanted.mode === undefined ? MODES : [wanted.mode];
  const { surface = null, statuses, terms } = wanted;
  const limit = wanted.limit + wanted.offset;
  // Each project and mode is read along its own indexes, and they are merged here.
  let newest: readonly Payment[] = [];
  for (const projectId of projectIds) {
    for (const mode of modes) {
      const search = { ...NO_FILTERS, api: surface, statuses, terms };
      const list = await searchPayments(db, { projectId, mode }, search, { after: null, limit });
      newest = [...newest, ...list].toSorted(newestFirst).slice(0, limit);
    }
  }
  return newest.slice(wanted.offset);
}

function newestFirst(a: Payment, b: Payment): number {
  if (a.createdAt !== b.createdAt) return b.createdAt - a.createdAt;
  return a.id < b.id ? 1 : -1;
}

async function projectsOf(db: Database, wanted: string | null): Promise<readonly string[]> {
  if (wanted === null) return (await listProjects(db)).map(({ id }) => id);
  if ((await findProject(db, wanted)) === null) throw noProject(wanted);
  return [wanted];
}
