import { useLocale } from '../../locale.tsx';
import { LinkButton } from '../../ui/button.tsx';
import { Select } from '../../ui/field.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { PeriodSelect, withChosen } from '../log/period-select.tsx';
import filters from '../payments/payments-page.module.css';
import { METHODS, OUTCOMES, REQUEST_PERIODS, type RequestsChange, type RequestsSearch } from './search.ts';

interface RequestFilterRowProps {
  readonly search: RequestsSearch;
  readonly isNarrowed: boolean;
  readonly keys: readonly { readonly id: string; readonly name: string }[];
  readonly onChange: (change: RequestsChange) => void;
}

const NO_FILTERS = {
  outcome: undefined,
  method: undefined,
  status: undefined,
  path: undefined,
  key: undefined,
  request: undefined,
  period: undefined,
} as const satisfies RequestsChange;

/** The filters of the requests, which are in the URL. */
export function RequestFilterRow({ search, isNarrowed, keys, onChange }: RequestFilterRowProps) {
  const { t } = useLocale('requests');
  const { outcome, method, status, path, key, request, period } = search;
  return (
    <div className={filters.filters} role="search">
      <SearchField label={t('request_path')} text={path ?? ''} onText={(text) => onChange({ path: text })} />
      <SearchField label={t('request_id')} text={request ?? ''} onText={(text) => onChange({ request: text })} />
      <Select
        label={t('request_outcome')}
        value={outcome ?? ''}
        options={[
          ['', t('request_any_outcome')],
          ...OUTCOMES.map((one) => [one, t(`request_outcome_${one}`)] as const),
        ]}
        onValue={(value) => onChange({ outcome: OUTCOMES.find((one) => one === value) })}
      />
      <Select
        label={t('request_method')}
        value={method ?? ''}
        options={[['', t('request_any_method')], ...METHODS.map((one) => [one, one] as const)]}
        onValue={(value) => onChange({ method: METHODS.find((one) => one === value) })}
      />
      <Select
        label={t('request_status')}
        value={status ?? ''}
        options={withChosen(
          t('request_status'),
          STATUSES.map((one) => [one, one] as const),
          status,
        )}
        onValue={(value) => onChange({ status: value })}
      />
      <Select
        label={t('request_key')}
        value={key ?? ''}
        options={withChosen(
          t('request_any_key'),
          keys.map(({ id, name }) => [id, name] as const),
          key,
        )}
        onValue={(value) => onChange({ key: value })}
      />
      <PeriodSelect period={period} offered={REQUEST_PERIODS} onPeriod={(value) => onChange({ period: value })} />
      {isNarrowed ? <LinkButton onClick={() => onChange(NO_FILTERS)}>{t('clear_filters')}</LinkButton> : null}
    </div>
  );
}

/** Those that the APIs answer with. */
const STATUSES = ['200', '400', '401', '403', '404', '409', '429', '500', '503'] as const;
