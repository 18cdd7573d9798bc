import type { EndpointView } from '../../../../src/http/dashboard/contract/webhooks.ts';
import { useLocale } from '../../locale.tsx';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Select } from '../../ui/field.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { PeriodSelect, withChosen } from '../log/period-select.tsx';
import filters from '../payments/payments-page.module.css';
import { ANSWERS, isNarrowed, isType, STATES, type WebhooksChange, type WebhooksSearch } from './search.ts';
import css from './webhooks.module.css';

interface FiltersProps {
  readonly search: WebhooksSearch;
  readonly endpoints: readonly EndpointView[];
  readonly types: readonly string[];
  readonly onChange: (change: WebhooksChange) => void;
  readonly onRetryAll: (() => void) | null;
}

const NO_FILTERS = {
  endpoint: undefined,
  type: undefined,
  state: undefined,
  answer: undefined,
  period: undefined,
  payment: undefined,
} as const satisfies WebhooksChange;

/** The heading of the deliveries and their filters, which are in the URL. */
export function Filters({ search, endpoints, types, onChange, onRetryAll }: FiltersProps) {
  const { t } = useLocale('webhooks');
  const { endpoint, type, state, answer, period, payment } = search;
  const words = (value: string): string | undefined => (value === '' ? undefined : value);
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
        <Select
          label={t('endpoint')}
          value={endpoint ?? ''}
          options={withChosen(
            t('deliveries_any_endpoint'),
            endpoints.map(({ id, url }) => [id, url] as const),
            endpoint,
          )}
          onValue={(value) => onChange({ endpoint: words(value) })}
        />
        <Select
          label={t('event')}
          value={type ?? ''}
          options={withChosen(
            t('deliveries_any_type'),
            types.map((one) => [one, one] as const),
            type,
          )}
          onValue={(value) => onChange({ type: isType(value) ? value : undefined })}
        />
        <Select
          label={t('state')}
          value={state ?? ''}
          options={[['', t('deliveries_any_state')], ...STATES.map((one) => [one, t(`delivery_${one}`)] as const)]}
          onValue={(value) => onChange({ state: STATES.find((one) => one === value) })}
        />
        <Select
          label={t('answer')}
          value={answer ?? ''}
          options={withChosen(
            t('answer_any'),
            ANSWERS.map((one) => [one, one === 'none' ? t('answer_none') : one] as const),
            answer,
          )}
          onValue={(value) => onChange({ answer: words(value) })}
        />
        <PeriodSelect period={period} onPeriod={(value) => onChange({ period: value })} />
        {isNarrowed(search) ? <LinkButton onClick={() => onChange(NO_FILTERS)}>{t('clear_filters')}</LinkButton> : null}
      </div>
    </>
  );
}
