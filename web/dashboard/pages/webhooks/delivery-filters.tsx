import type { EndpointView } from '../../../../src/http/dashboard/webhooks/contract.ts';
import { useLocale } from '../../locale.tsx';
import { Button, LinkButton } from '../../ui/button.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { asOptions, FilterSelects, PeriodSelect } from '../log/filter-select.tsx';
import type { LogChange } from '../log/use-log-search.ts';
import filters from '../payments/payments-page.module.css';
import { ANSWERS, isNarrowed, STATES, type WebhooksSearch } from './search.ts';
import css from './webhooks.module.css';

interface FiltersProps {
  readonly search: WebhooksSearch;
  readonly endpoints: readonly EndpointView[];
  readonly types: readonly string[];
  readonly onChange: (change: LogChange) => void;
  readonly onRetryAll: (() => void) | null;
}

const NO_FILTERS = {
  endpoint: undefined,
  type: undefined,
  state: undefined,
  answer: undefined,
  period: undefined,
  payment: undefined,
} as const satisfies LogChange;

/** The heading of the deliveries and their filters, which are in the URL. */
export function Filters({ search, endpoints, types, onChange, onRetryAll }: FiltersProps) {
  const { t } = useLocale('webhooks');
  const { period, payment } = search;
  return (
    <>
      <div className={css.deliveriesHead}>
        <h2 id="deliveries">{t('deliveries')}</h2>
        {onRetryAll === null ? null : <Button onClick={onRetryAll}>{t('retry_all')}</Button>}
      </div>
      <div className={filters.filters} role="search">
        <SearchField
          label={t('payment_id')}
          text={payment ?? ''}
          onText={(text) => onChange({ payment: text?.slice(0, 64) })}
        />
        <FilterSelects
          search={search}
          onChange={onChange}
          rows={[
            [
              'endpoint',
              t('endpoint'),
              t('deliveries_any_endpoint'),
              endpoints.map(({ id, url }) => [id, url] as const),
            ],
            ['type', t('event'), t('deliveries_any_type'), asOptions(types)],
            ['state', t('state'), t('deliveries_any_state'), STATES.map((one) => [one, t(`delivery_${one}`)] as const)],
            [
              'answer',
              t('answer'),
              t('answer_any'),
              ANSWERS.map((one) => [one, one === 'none' ? t('answer_none') : one] as const),
            ],
          ]}
        />
        <PeriodSelect period={period} onPeriod={(value) => onChange({ period: value })} />
        {isNarrowed(search) ? <LinkButton onClick={() => onChange(NO_FILTERS)}>{t('clear_filters')}</LinkButton> : null}
      </div>
    </>
  );
}
