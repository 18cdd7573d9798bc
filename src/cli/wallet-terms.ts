import type { Command } from 'commander';
import type { App } from '../app/context.ts';
import { monitoringMsOf } from '../app/payments/payment-policy.ts';
import { changePaymentTerms } from '../app/projects/payment-terms.ts';
import { MAX_MONITORING_HOURS } from '../app/projects/project-request.ts';
import { coinName, offeredCoins } from '../domain/coin-choice.ts';
import { findProject, type Project } from '../store/projects/projects.ts';
import { fields } from '../wire/fields.ts';
import { commaSeparated, percentage, projectIdOf } from './arguments.ts';
import { UsageFailure } from './failure.ts';
import { done, noProject } from './refusal.ts';
import { withCointill } from './open.ts';
import { print, printsRecord, type OutputOptions } from './output.ts';

interface TermsOptions extends OutputOptions {
  readonly project: string;
  readonly coinOrder?: string;
  readonly coinsOff?: string;
  readonly monitoringHours?: string;
  readonly spread?: number;
}

/** `cointill wallet terms`. */
export function addTermsCommand(wallet: Command): void {
  printsRecord(wallet.command('terms').description("show or change the terms of a project's live payments"))
    .requiredOption('--project <id>', "the project's id", projectIdOf)
    .option(
      '--coin-order <coins>',
      'coins that come first on the payment page, comma-separated; "" for the default order',
    )
    .option(
      '--coins-off <coins>',
      'coins that the shop does not offer, comma-separated, such as ETH/ethereum; "" offers all',
    )
    .option(
      '--monitoring-hours <hours>',
      `how many hours Cointill watches payments after their end, 1 to ${MAX_MONITORING_HOURS}, or none to use MONITORING_HOURS`,
    )
    .option(
      '--spread <percent>',
      'how much more than the market price customers pay, in percent, such as 1.5',
      percentage,
    )
    .action(({ project: id, coinOrder, coinsOff, monitoringHours, spread, ...options }: TermsOptions) => {
      const choice = {
        ...(coinOrder === undefined ? {} : { order: commaSeparated(coinOrder) }),
        ...(coinsOff === undefined ? {} : { off: commaSeparated(coinsOff) }),
      };
      const change = {
        ...(Object.keys(choice).length === 0 ? {} : { choice }),
        ...(monitoringHours === undefined ? {} : { monitoringHours: hoursOf(monitoringHours) }),
        ...(spread === undefined ? {} : { spreadBasisPoints: spread }),
      };
      return withCointill(async ({ app }) => {
        const terms =
          Object.keys(change).length === 0
            ? await findProject(app.db, id)
            : done(await changePaymentTerms(app, id, { ...change, version: null })).project;
        if (terms === null) throw noProject(id);
        const offered = offeredCoins(await app.railFor('live').payable(id), terms.coins).map(coinName);
        print(options, termsRecord(app, terms, offered), () => termsLines(app, terms, offered));
      });
    });
}

function hoursOf(text: string): number | null {
  if (text === 'none') return null;
  const hours = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (hours >= 1 && hours <= MAX_MONITORING_HOURS) return hours;
  throw new UsageFailure(`--monitoring-hours must be a whole number from 1 to ${MAX_MONITORING_HOURS}, or none.`);
}

function termsRecord(app: App, { id, coins, monitoringHours, spreadBasisPoints }: Project, offered: readonly string[]) {
  return {
    project_id: id,
    coin_order: coins.order,
    coins_off: coins.off,
    offered,
    monitoring_hours: monitoringMsOf(app, monitoringHours) / 3_600_000,
    has_own_window: monitoringHours !== null,
    spread_percent: spreadBasisPoints / 100,
  };
}

function termsLines(app: App, { id, coins, monitoringHours, spreadBasisPoints }: Project, offered: readonly string[]) {
  const hours = `${monitoringMsOf(app, monitoringHours) / 3_600_000} hours`;
  return fields([
    ['Project', id],
    ['First', coins.order.length === 0 ? 'the default order' : coins.order.join(', ')],
    ['Not offered', coins.off.length === 0 ? 'none' : coins.off.join(', ')],
    ['Offered', offered.length === 0 ? 'none yet: no wallet is set on a network that has a node' : offered.join(', ')],
    ['Watched', `${hours} after the end${monitoringHours === null ? ' (MONITORING_HOURS)' : ''}`],
    ['Spread', `${spreadBasisPoints / 100} %`],
  ]);
}
