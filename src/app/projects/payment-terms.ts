import { allTokens } from '../../domain/asset.ts';
import { ALL_COINS, coinName, offeredCoins, type CoinChoice } from '../../domain/coin-choice.ts';
import { findLockedProject, type Project } from '../../store/projects/projects.ts';
import type { App } from '../context.ts';
import { noProject, rejected, type Rejected } from '../rejected.ts';
import { digestOf } from '../version.ts';
import { checkRequest } from './project-request.ts';
import { saveProjectChanges } from './projects.ts';

/** On which terms a project's customers pay. What is left out stays as it is. */
export interface TermsChange {
  readonly spreadBasisPoints?: number;
  /** Null: as the service is set. */
  readonly monitoringHours?: number | null;
  /** The coins that can be paid now, in their new order; null: all of them in the usual order. */
  readonly coins?: readonly { readonly coin: string; readonly isOn: boolean }[] | null;
  /** The same in the form in which it is kept; a list that is left out stays as it is. */
  readonly choice?: Partial<CoinChoice>;
  /** The version of the terms that the person saw; null: none, so that nobody else's change is in the way. */
  readonly version: string | null;
}

/** Changes with every one of the terms. */
export function termsVersion({
  spreadBasisPoints,
  monitoringHours,
  coins,
}: Pick<Project, 'spreadBasisPoints' | 'monitoringHours' | 'coins'>): string {
  return digestOf([spreadBasisPoints, monitoringHours, coins.order, coins.off]);
}

/** Changes the terms of new payments. Refused if somebody changed them since, or if no coin would be left. */
export async function changePaymentTerms(
  app: App,
  projectId: string,
  { version, coins, choice: kept, ...terms }: TermsChange,
): Promise<{ readonly kind: 'done'; readonly project: Project } | Rejected> {
  const checked = checkRequest(terms);
  if (checked.kind === 'rejected') return checked;
  return app.db.transaction().execute(async (trx) => {
    const project = await findLockedProject(trx, projectId);
    if (project === null) return noProject(projectId);
    if (version !== null && version !== termsVersion(project)) return rejected('terms_changed');
    const choice =
      kept !== undefined
        ? keptChoice(project.coins, kept)
        : coins === undefined
          ? null
          : choiceOf(project.coins, coins);
    if (choice !== null && 'kind' in choice) return choice;
    if (choice !== null) {
      const payable = await app.railFor('live').payable(projectId, trx);
      if (offeredCoins(payable.length === 0 ? allTokens() : payable, choice).length === 0)
        return rejected('no_coin_left', { param: kept === undefined ? 'coins' : 'off' });
    }
    const changes = { ...checked.changes, ...(choice === null ? {} : { coins: choice }) };
    return { kind: 'done', project: await saveProjectChanges(app, trx, project, changes) };
  });
}

/** A choice as commands make it: each list as a whole. */
function keptChoice(before: CoinChoice, { order, off }: Partial<CoinChoice>): CoinChoice | Rejected {
  return (
    namingProblem('order', order ?? []) ??
    namingProblem('off', off ?? []) ?? { order: order ?? before.order, off: off ?? before.off }
  );
}

function namingProblem(param: 'order' | 'off' | 'coins', coins: readonly string[]): Rejected | null {
  const known = new Set(allTokens().map(coinName));
  const unknown = coins.find((coin) => !known.has(coin));
  if (unknown !== undefined) {
    const coin = JSON.stringify(unknown.slice(0, 40));
    return rejected('coin_unknown', { param, names: [...known].join(', '), coin });
  }
  return new Set(coins).size < coins.length ? rejected('coin_twice', { param }) : null;
}

/** The choice that a list of coins means. Coins that it does not name stay switched off, or on after the others. */
function choiceOf(before: CoinChoice, coins: NonNullable<TermsChange['coins']> | null): CoinChoice | Rejected {
  if (coins === null) return ALL_COINS;
  const order = coins.map(({ coin }) => coin);
  const problem = namingProblem('coins', order);
  if (problem !== null) return problem;
  const off = coins.filter(({ isOn }) => !isOn).map(({ coin }) => coin);
  return { order, off: [...off, ...before.off.filter((coin) => !order.includes(coin))] };
}
