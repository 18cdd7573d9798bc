import { allTokens } from '../../domain/asset.ts';
import { ALL_COINS, coinName, offeredCoins, type CoinChoice } from '../../domain/coin-choice.ts';
import { findLockedProject, type Project } from '../../store/projects.ts';
import type { App } from '../context.ts';
import { malformed, noProject, rejected, type Rejected } from '../rejected.ts';
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
  /** The version of the terms that the person saw. */
  readonly version: string;
}

/** Changes with every one of the terms. */
export function termsVersion({
  spreadBasisPoints,
  monitoringHours,
  coins,
}: Pick<Project, 'spreadBasisPoints' | 'monitoringHours' | 'coins'>): string {
  return digestOf([spreadBasisPoints, monitoringHours, coins.order, coins.off]);
}

const CHANGED_MEANWHILE =
  'Somebody else has changed this meanwhile, and nothing was saved. Close this to see it as it is now, then make your change again.';

/** Changes the terms of new payments. Refused if somebody changed them since, or if no coin would be left. */
export async function changePaymentTerms(
  app: App,
  projectId: string,
  { version, coins, ...terms }: TermsChange,
): Promise<{ readonly kind: 'done'; readonly project: Project } | Rejected> {
  const checked = checkRequest(terms);
  if (checked.kind === 'rejected') return checked;
  return app.db.transaction().execute(async (trx) => {
    const project = await findLockedProject(trx, projectId);
    if (project === null) return noProject(projectId);
    if (version !== termsVersion(project)) return { ...rejected(CHANGED_MEANWHILE), isConflict: true };
    const choice = coins === undefined ? null : choiceOf(project.coins, coins);
    if (choice !== null && 'kind' in choice) return choice;
    if (choice !== null) {
      const payable = await app.railFor('live').payable(projectId, trx);
      if (offeredCoins(payable.length === 0 ? allTokens() : payable, choice).length === 0)
        return malformed(NO_COIN_LEFT);
    }
    const changes = { ...checked.changes, ...(choice === null ? {} : { coins: choice }) };
    return { kind: 'done', project: await saveProjectChanges(app, trx, project, changes) };
  });
}

const NO_COIN_LEFT =
  'coins must have at least one that is switched on and that a wallet is set for: else nobody could pay.';

/** The choice that a list of coins means. Coins that it does not name stay switched off, or on after the others. */
function choiceOf(before: CoinChoice, coins: NonNullable<TermsChange['coins']> | null): CoinChoice | Rejected {
  if (coins === null) return ALL_COINS;
  const known = new Set(allTokens().map(coinName));
  const unknown = coins.find(({ coin }) => !known.has(coin));
  if (unknown !== undefined) {
    return malformed(
      `coins must be of ${[...known].join(', ')}; ${JSON.stringify(unknown.coin.slice(0, 40))} is none.`,
    );
  }
  const order = coins.map(({ coin }) => coin);
  if (new Set(order).size < order.length) return malformed('coins must name each coin once.');
  const off = coins.filter(({ isOn }) => !isOn).map(({ coin }) => coin);
  return { order, off: [...off, ...before.off.filter((coin) => !order.includes(coin))] };
}
