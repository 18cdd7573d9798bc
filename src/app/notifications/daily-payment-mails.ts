import type { CoinFact, CompletedFact, RefundedFact, SavedMail } from '../../domain/mail-content.ts';
import { MAIL_HOUR } from '../../domain/notification.ts';
import { formatDecimal, type Fiat } from '../../domain/money.ts';
import { daysOfPeriod, spanOf, type ReportDays } from '../../domain/report.ts';
import { dayAfter, dayAt, hourAt } from '../../domain/time-zone.ts';
import type { Network } from '../../domain/networks.ts';
import type { Database, Trx } from '../../store/database.ts';
import { reportTotals } from '../../store/reports/report-totals.ts';
import { roundedValue } from '../../store/figures/currency-rates.ts';
import { completedBetween } from '../../store/payments/completed-payments.ts';
import { lockProjectChoices, saveProjectChoices } from '../../store/people/project-choices.ts';
import type { App } from '../context.ts';
import { enqueueMails } from '../enqueue-mail.ts';
import { projectReaders, type ProjectReader } from './project-readers.ts';

/**
 * Makes the mails with the sum of a day and the statements of a month, at eight in each person's zone. Days without
 * payments have none.
 */
export async function enqueueDailyPaymentMails(app: App): Promise<void> {
  if (app.sendsMail !== true) return;
  for (const reader of await projectReaders(app.db)) {
    if (daysDue(reader, app.clock()) !== null) await enqueueDay(app, reader);
    if (monthDue(reader, app.clock()) !== null) await enqueueMonth(app, reader);
  }
}

/** The days of the month whose statement is due: the last month's, also on a later day than the first. Null: none. */
function monthDue({ choices, zone }: Pick<ProjectReader, 'choices' | 'zone'>, now: number): ReportDays | null {
  const today = dayAt(zone, now);
  const month = today.slice(0, 7);
  if (!choices.monthly || (choices.monthlyMade?.slice(0, 7) ?? '') >= month) return null;
  if (today.endsWith('-01') && hourAt(zone, now) < MAIL_HOUR) return null;
  return daysOfPeriod('last_month', zone, now);
}

async function enqueueMonth(app: App, reader: ProjectReader): Promise<void> {
  const { personId, project, zone } = reader;
  const days = monthDue(reader, app.clock());
  if (days === null) return;
  // Before the transaction, because sums of many payments take a while.
  const refunded = await refundedIn(app.db, project.id, days, project.currency);
  await app.db.transaction().execute(async (trx) => {
    const choices = await lockProjectChoices(trx, personId, project.id);
    const due = choices && monthDue({ choices, zone }, app.clock());
    if (choices === null || due?.from !== days.from) return;
    const { from, to } = days;
    const named = { id: project.id, name: project.name };
    const completed = await completedIn(trx, project.id, days, project.currency);
    const content: SavedMail = { kind: 'monthly', project: named, from, to, completed, refunded };
    await enqueueMails(app, trx, [personId], { mailKey: `monthly ${project.id} ${from}`, content });
    await saveProjectChoices(trx, { ...choices, monthlyMade: dayAt(zone, app.clock()) });
  });
}

/** The live refunds of a project that were paid on these days, valued in its currency. */
async function refundedIn(db: Database, projectId: string, days: ReportDays, currency: Fiat): Promise<RefundedFact> {
  const scope = { projectId, mode: 'live' } as const;
  const totals = await reportTotals(db, { report: 'refunds', scope, span: spanOf(days), token: null }, currency);
  if (totals === null) return { refunds: 0, minor: null, coins: [] };
  return {
    refunds: totals.reduce((sum, { rows }) => sum + rows, 0),
    minor: String(totals.reduce((sum, { value }) => sum + value, 0n)),
    coins: totals.flatMap(({ asset, network, decimals, units }) => coinFacts({ asset, network, decimals, units })),
  };
}

interface Coins {
  readonly asset: string | null;
  readonly network: Network | null;
  readonly decimals: number | null;
  readonly units: bigint;
}

function coinFacts({ asset, network, decimals, units }: Coins): readonly CoinFact[] {
  if (asset === null || network === null || decimals === null) return [];
  return [{ amount: formatDecimal(units, decimals), asset, network }];
}

/**
 * The whole days that are due: yesterday, and days before it without a mail if the service was away. Null: none are.
 */
function daysDue({ choices, zone }: Pick<ProjectReader, 'choices' | 'zone'>, now: number): ReportDays | null {
  if (choices.payments !== 'daily' || hourAt(zone, now) < MAIL_HOUR) return null;
  const today = dayAt(zone, now);
  const from = choices.dailyMade ?? dayAfter(today, -1);
  return from < today ? { from, to: dayAfter(today, -1), zone } : null;
}

function enqueueDay(app: App, reader: ProjectReader): Promise<void> {
  const { personId, project, zone } = reader;
  return app.db.transaction().execute(async (trx) => {
    const choices = await lockProjectChoices(trx, personId, project.id);
    const days = choices && daysDue({ choices, zone }, app.clock());
    if (choices === null || days === null) return;
    const completed = await completedIn(trx, project.id, days, project.currency);
    if (completed.payments > 0) {
      const { from, to } = days;
      const named = { id: project.id, name: project.name };
      const content: SavedMail = { kind: 'payments_daily', project: named, from, to, completed };
      await enqueueMails(app, trx, [personId], { mailKey: `payments ${project.id} ${to}`, content });
    }
    await saveProjectChoices(trx, { ...choices, dailyMade: dayAfter(days.to) });
  });
}

/** The live payments of a project that were completed on these days, valued in its currency. */
export async function completedIn(
  trx: Trx,
  projectId: string,
  days: ReportDays,
  currency: Fiat,
): Promise<CompletedFact> {
  const coins = await completedBetween(trx, { projectId, mode: 'live' }, spanOf(days), currency);
  const sum = (of: (coin: (typeof coins)[number]) => number): number => coins.reduce((all, coin) => all + of(coin), 0);
  return {
    payments: sum(({ payments }) => payments),
    currency,
    minor: String(roundedValue(coins.reduce((all, { value }) => all + value, 0n))),
    unvalued: sum(({ unvalued }) => unvalued),
    coins: coins.flatMap(coinFacts),
  };
}
