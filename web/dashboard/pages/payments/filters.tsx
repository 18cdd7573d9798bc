import { PAYMENT_FILTER_NAMES } from '../../../../src/domain/payment-filters.ts';
import { useLocale } from '../../locale.tsx';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Select, SearchField } from '../../ui/field.tsx';
import { FilterChips } from './filter-chips.tsx';
import css from './payments-page.module.css';
import { isNarrowed, PERIODS, UNUSUAL, type PaymentsSearch, type Period, type SearchChange } from './search.ts';

interface FiltersProps {
  readonly search: PaymentsSearch;
  readonly onChange: (change: SearchChange) => void;
  /** Opens what has no control of its own here. */
  readonly onMore: () => void;
}

const isPeriod = (text: string): text is Period => Object.hasOwn(PERIODS, text);
const NO_FILTERS: SearchChange = Object.fromEntries(PAYMENT_FILTER_NAMES.map((name) => [name, undefined]));

/** The filters of the list. They are in the URL, so they survive a reload and can be shared. */
export function Filters({ search, onChange, onMore }: FiltersProps) {
  const { t } = useLocale('list');
  return (
    <>
      <div className={css.filters} role="search">
        <SearchField
          label={t('search_payments')}
          text={search.search ?? ''}
          onText={(text) => onChange({ search: text })}
        />
        <Select
          label={t('unusual')}
          value={search.exception ?? ''}
          options={[['', t('unusual_any')], ...UNUSUAL.map((one) => [one, t(`exception_${one}`)] as const)]}
          onValue={(value) => onChange({ exception: UNUSUAL.find((one) => one === value) })}
        />
        <Select
          label={t('created')}
          value={search.period ?? ''}
          options={[
            ['', t('period_any')],
            ...Object.keys(PERIODS)
              .filter(isPeriod)
              .map((one) => [one, t(`period_${one}`)] as const),
          ]}
          onValue={(value) => onChange({ period: isPeriod(value) ? value : undefined })}
        />
        <Button icon="filter" onClick={onMore}>
          {t('filter')}
        </Button>
        {isNarrowed(search) ? (
          <LinkButton onClick={() => onChange({ ...NO_FILTERS, view: undefined })}>{t('clear_filters')}</LinkButton>
        ) : null}
      </div>
      <FilterChips search={search} onChange={onChange} />
    </>
  );
}
