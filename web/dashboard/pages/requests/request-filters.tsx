import { useLocale } from '../../locale.tsx';
import { LinkButton } from '../../ui/button.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { asOptions, FilterSelects, PeriodSelect } from '../log/filter-select.tsx';
import type { LogChange } from '../log/use-log-search.ts';
import filters from '../payments/payments-page.module.css';
import { METHODS, OUTCOMES, REQUEST_PERIODS, type RequestsSearch } from './search.ts';

interface RequestFilterRowProps {
  readonly search: RequestsSearch;
  readonly isNarrowed: boolean;
  readonly keys: readonly { readonly id: string; readonly name: string }[];
  readonly onChange: (change: LogChange) => void;
}

const NO_FILTERS = {
  outcome: undefined,
  method: undefined,
  status: undefined,
  path: undefined,
  key: undefined,
  request: undefined,
  period: undefined,
} as const satisfies LogChange;

/** The filters of the requests, which are in the URL. */
export function RequestFilterRow({ search, isNarrowed, keys, onChange }: RequestFilterRowProps) {
  const { t } = useLocale('requests');
  const { path, request, period } = search;
  return (
    <div className={filters.filters} role="search">
      <SearchField label={t('request_path')} text={path ?? ''} onText={(text) => onChange({ path: text })} />
      <SearchField label={t('request_id')} text={request ?? ''} onText={(text) => onChange({ request: text })} />
      <FilterSelects
        search={search}
        onChange={onChange}
        rows={[
          ['method', t('request_method'), t('request_any_method'), asOptions(METHODS)],
          [
            'outcome',
            t('request_outcome'),
            t('request_any_outcome'),
            OUTCOMES.map((one) => [one, t(`request_outcome_${one}`)] as const),
          ],
          ['status', t('request_status'), t('request_any_status'), asOptions(STATUSES)],
          ['key', t('request_key'), t('request_any_key'), keys.map(({ id, name }) => [id, name] as const)],
        ]}
      />
      <PeriodSelect period={period} offered={REQUEST_PERIODS} onPeriod={(value) => onChange({ period: value })} />
      {isNarrowed ? <LinkButton onClick={() => onChange(NO_FILTERS)}>{t('clear_filters')}</LinkButton> : null}
    </div>
  );
}

/** Those that the APIs answer with. */
const STATUSES = ['200', '400', '401', '403', '404', '409', '429', '500', '503'] as const;
