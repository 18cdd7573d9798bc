import { allTokens } from '../../domain/asset.ts';
import { ALL_COINS, coinName, offeredCoins, type CoinChoice } from '../../domain/coin-choice.ts';
import { findLockedProject, type Project } from '../../store/projects/projects.ts';
import type { App } from '../context.ts';
import { noProject, rejected, type Rejected } from '../rejected.ts';
import { digestOf } from '../version.ts';
import { checkRequest } from './project-request.ts';
import { saveProjectChanges } from './projects.ts';

/** A change of the terms on which customers pay. Absent fields stay as they are. */
export interface TermsChange {
  readonly spreadBasisPoints?: number;
  /** Null: the service's setting. */
  readonly monitoringHours?: number | null;
  /** The enabled coins in their new order; null: all of them in the usual order. */
  readonly coins?: readonly { readonly coin: string; readonly isOn: boolean }[] | null;
  /** The same change in the stored form; an absent list stays as it is. */
  readonly choice?: Partial<CoinChoice>;
  /** The version of the terms that the person saw; null: no check for changes by others. */
  readonly version: string | null;
}

/** The version changes with each of the terms. */
export function termsVersion({
  spreadBasisPoints,
  monitoringHours,
  coins,
}: Pick<Project, 'spreadBasisPoints' | 'monitoringHours' | 'coins'>): string {
  return digestOf([spreadBasisPoints, monitoringHours, coins.order, coins.off]);
}

/** Changes the terms of new payments. Refused if the terms changed since that version, or if no coin would be left. */
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

/** The new choice from whole lists, as commands give them. */
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

/** The new choice from a list of coins. Coins that the list does not name stay switched off, or on after the others. */
function choiceOf(before: CoinChoice, coins: NonNullable<TermsChange['coins']> | null): CoinChoice | Rejected {
  if (coins === null) return ALL_COINS;
  const order = coins.map(({ coin }) => coin);
  const problem = namingProblem('coins', order);
  if (problem !== null) return problem;
  const off = coins.filter(({ isOn }) => !isOn).map(({ coin }) => coin);
  return { order, off: [...off, ...before.off.filter((coin) => !order.includes(coin))] };
}
