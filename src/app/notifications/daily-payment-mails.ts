import type { CompletedFact, SavedMail } from '../../domain/mail-content.ts';
import { MAIL_HOUR } from '../../domain/notification.ts';
import { formatDecimal, type Fiat } from '../../domain/money.ts';
import { spanOf, type ReportDays } from '../../domain/report.ts';
import { dayAfter, dayAt, hourAt } from '../../domain/time-zone.ts';
import type { Trx } from '../../store/database.ts';
import { roundedValue } from '../../store/figures/currency-rates.ts';
import { completedBetween } from '../../store/payments/completed-payments.ts';
import { lockProjectChoices, saveProjectChoices } from '../../store/people/project-choices.ts';
import type { App } from '../context.ts';
import { enqueueMails } from '../enqueue-mail.ts';
import { projectReaders, type ProjectReader } from './project-readers.ts';

/** Makes the mails with the sum of a day, at eight in each person's zone. Days without payments have none. */
export async function enqueueDailyPaymentMails(app: App): Promise<void> {
  if (app.sendsMail !== true) return;
  for (const reader of await projectReaders(app.db)) {
    if (daysDue(reader, app.clock()) !== null) await enqueueDay(app, reader);
  }
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
    coins: coins.flatMap(({ asset, network, decimals, units }) =>
      asset === null || network === null || decimals === null
        ? []
        : [{ amount: formatDecimal(units, decimals), asset, network }],
    ),
  };
}
