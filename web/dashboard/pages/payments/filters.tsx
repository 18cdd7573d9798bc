import { PERIOD_NAMES, type usePageSearch } from '../../search.ts';
import { useLocale } from '../../locale.tsx';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Select, SearchField } from '../../ui/field.tsx';
import { FilterChips } from './filter-chips.tsx';
import css from './payments-page.module.css';
import { isNarrowed, UNUSUAL, type PaymentsSearch } from './search.ts';

interface FiltersProps {
  readonly page: ReturnType<typeof usePageSearch<PaymentsSearch>>;
  /** Opens the dialog of the other filters. */
  readonly onMore: () => void;
}

/** The filters of the list. They are in the URL, so they survive a reload and can be shared. */
export function Filters({ page: { search, onChange, onClear }, onMore }: FiltersProps) {
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
          onValue={(exception) => onChange({ exception })}
        />
        <Select
          label={t('created')}
          value={search.period ?? ''}
          options={[['', t('period_any')], ...PERIOD_NAMES.map((one) => [one, t(`period_${one}`)] as const)]}
          onValue={(period) => onChange({ period })}
        />
        <Button icon="filter" onClick={onMore}>
          {t('filter')}
        </Button>
        {isNarrowed(search) ? <LinkButton onClick={onClear}>{t('clear_filters')}</LinkButton> : null}
      </div>
      <FilterChips search={search} onChange={onChange} />
    </>
  );
}
