import { formatUnits, unitsOf } from '../../decimal.ts';
import { useLocale } from '../../locale.tsx';
import type { SweepView } from '../../../../src/http/dashboard/sweeps/contract.ts';
import { classNames } from '../../ui/class-names.ts';
import css from '../../ui/value.module.css';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { Api } from '../../api.ts';
import type { Scope } from '../../scope.ts';
import { projectKey } from '../payments/queries.ts';

interface Amount {
  readonly asset: string;
  readonly amount: string;
  readonly usd: string | null;
}

interface AmountsProps {
  readonly amounts: readonly Amount[];
  /** The text where the worth of a part is unknown; nothing by default. */
  readonly unknown?: string;
}

/** `0.03 ETH + 12.5 USDT ($102.50)`. */
export function Amounts({ amounts, unknown = '' }: AmountsProps) {
  const worth = useWorth(amounts) ?? unknown;
  if (amounts.length === 0) return null;
  return (
    <>
      {amounts.map(({ asset, amount }) => `${amount} ${asset}`).join(' + ')}
      {worth === '' ? null : ` (${worth})`}
    </>
  );
}

/** Cents are added exactly; null if one part has no price. */
function useWorth(amounts: readonly Amount[]): string | null {
  const { fiat } = useLocale();
  let cents = 0n;
  for (const { usd } of amounts) {
    if (usd === null) return null;
    cents += unitsOf(usd, 2);
  }
  return fiat(formatUnits(cents, 2), 'USD');
}

const CLASSES = {
  asked: 'open',
  sent: 'waiting',
  seen: 'waiting',
  mined: 'good',
  failed: 'bad',
  ended: 'over',
} as const;

export function SweepState({ state }: Pick<SweepView, 'state'>) {
  const { t } = useLocale('sweeps');
  return <span className={classNames(css.status, css[CLASSES[state]])}>{t(`sweep_state_${state}`)}</span>;
}

export const SWEEPS = '/dashboard/api/projects/:project/:mode/sweeps';
const PAGE = 20;

/** The prefix of all queries of sweeps, which the live stream names. */
export function sweepsKey(scope: Scope): readonly unknown[] {
  return [...projectKey(scope), 'sweeps'];
}

export function sweepsQuery(api: Api, scope: Scope) {
  return queryOptions({
    queryKey: [...sweepsKey(scope), 'now'],
    queryFn: ({ signal }) => api(`GET ${SWEEPS}`, { params: { ...scope } }, signal),
  });
}

export function historyQuery(api: Api, scope: Scope) {
  return infiniteQueryOptions({
    queryKey: [...sweepsKey(scope), 'history'],
    queryFn: ({ pageParam, signal }) =>
      api(
        `GET ${SWEEPS}/history`,
        { params: { ...scope }, query: { limit: PAGE, ...(pageParam !== null && { after: pageParam }) } },
        signal,
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  });
}
