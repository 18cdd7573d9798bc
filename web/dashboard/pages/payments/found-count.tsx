import { useQuery } from '@tanstack/react-query';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import type { Scope } from '../../scope.ts';
import { foundQuery } from './list-queries.ts';
import css from './payments-page.module.css';
import type { PaymentsSearch } from './search.ts';

export interface FoundProps {
  readonly scope: Scope;
  readonly search: PaymentsSearch;
}

/** More currencies would fill the line. */
const MAX_SUMS = 4;

/** How many payments match the filters, and what they add up to in each currency. */
export function FoundCount({ scope, search: given }: FoundProps) {
  const { t, fiat, number } = useLocale('list');
  const { api } = useDashboard();
  const { data: found } = useQuery(foundQuery(api, scope, given));
  if (found === undefined || found.count === null) return null;
  const { count, is_more: isMore, sums } = found;
  const { search } = given;
  const shown = sums.slice(0, MAX_SUMS).map(({ amount, currency }) => fiat(amount, currency));
  const total = [...shown, ...(sums.length > MAX_SUMS ? ['…'] : [])].join(' + ');
  const counted =
    search !== undefined
      ? t(isMore ? 'search_found_many' : 'search_found', { number: number(count), search })
      : isMore
        ? t('found_many', { number: number(count) })
        : t('found_count', { count });
  return (
    <p className={css.found} role="status">
      {total === '' ? counted : `${counted}, ${t('found_total', { total })}`}
    </p>
  );
}
