import { formatUnits, unitsOf } from '../../decimal.ts';
import { useLocale } from '../../locale.tsx';
import type { SweepView } from '../../../../src/http/dashboard/sweeps/contract.ts';
import { Badge } from '../../ui/value.tsx';
import { reads, readsPages } from '../../api.ts';
import { projectKey } from '../payments/queries.ts';
import type { Scope } from '../../scope.ts';

interface Amount {
  readonly asset: string;
  readonly amount: string;
  readonly usd: string | null;
}

interface AmountsProps {
  readonly amounts: readonly Amount[];
  /** The text if the worth of a part is unknown; nothing by default. */
  readonly unknown?: string;
}

/** Amounts such as `0.03 ETH + 12.5 USDT ($102.50)`. */
export function Amounts({ amounts, unknown = '' }: AmountsProps) {
  const worth = useWorth(amounts) ?? unknown;
  const { coin } = useLocale();
  if (amounts.length === 0) return null;
  return (
    <>
      <span title={amounts.map(({ asset, amount }) => `${amount} ${asset}`).join(' + ')}>
        {amounts.map(({ asset, amount }) => coin(amount, asset)).join(' + ')}
      </span>
      {worth === '' ? null : ` (${worth})`}
    </>
  );
}

/** The exact sum of cents; null if a part has no price. */
function useWorth(amounts: readonly Amount[]): string | null {
  const { fiat } = useLocale();
  let cents = 0n;
  for (const { usd } of amounts) {
    if (usd === null) return null;
    cents += unitsOf(usd, 2);
  }
  return fiat(formatUnits(cents, 2), 'USD');
}

const TONES = {
  asked: 'open',
  sent: 'waiting',
  seen: 'waiting',
  mined: 'good',
  failed: 'bad',
  ended: 'over',
} as const;

export function SweepState({ state }: Pick<SweepView, 'state'>) {
  const { t } = useLocale('sweeps');
  return <Badge tone={TONES[state]}>{t(`sweep_state_${state}`)}</Badge>;
}

export const SWEEPS = '/dashboard/api/projects/:project/:mode/sweeps';
const PAGE = 20;

/** The prefix of all queries of sweeps, which the live stream invalidates. */
export function sweepsKey(scope: Scope): readonly unknown[] {
  return [...projectKey(scope), 'sweeps'];
}

export function sweepsQuery(scope: Scope) {
  return reads(sweepsKey(scope), `GET ${SWEEPS}`, { params: scope });
}

export function historyQuery(scope: Scope) {
  return readsPages(sweepsKey(scope), `GET ${SWEEPS}/history`, { params: scope, query: { limit: PAGE } });
}
