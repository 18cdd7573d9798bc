import { PERIOD_NAMES, type usePageSearch, type SearchChange } from '../../search.ts';
import { useLocale, type Locale } from '../../locale.tsx';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Select, SearchField } from '../../ui/field.tsx';
import css from './payments-page.module.css';
import { isNarrowed, UNUSUAL, type PaymentsSearch, MORE_FILTERS, type MoreFilter } from './search.ts';
import { PAYMENT_FILTERS } from '../../../../src/domain/payment-filters.ts';
import { Icon } from '../../ui/icons.tsx';
import { networkName } from '../../formats.ts';

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

interface FilterChipsProps {
  readonly search: PaymentsSearch;
  readonly onChange: (change: SearchChange) => void;
}

/** The filters that no control above the list shows, each with a button that removes it. */
export function FilterChips({ search, onChange }: FilterChipsProps) {
  const locale = useLocale('list');
  const { t } = locale;
  const chips = MORE_FILTERS.flatMap((name) => {
    const text = chipText(name, search, locale);
    return text === null ? [] : [{ name, text }];
  });
  if (chips.length === 0) return null;
  return (
    <ul className={css.chips} aria-label={t('filter')}>
      {chips.map(({ name, text }) => (
        <li key={name}>
          <span>{text}</span>
          <button
            type="button"
            aria-label={t('chip_remove', { filter: text })}
            onClick={() => onChange({ [name]: undefined })}
          >
            <Icon name="close" size={14} />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Null for a filter that is not set, or is part of another's chip. */
function chipText(name: MoreFilter, search: PaymentsSearch, { t, day, number }: Locale<'list'>): string | null {
  const value = search[name];
  if (value === undefined) return null;
  const written = Number.isNaN(Number(value)) ? value : number(Number(value));
  const amount = search.currency === undefined ? written : `${written} ${search.currency}`;
  switch (name) {
    case 'min':
      return t('chip_amount_from', { amount });
    case 'max':
      return t('chip_amount_to', { amount });
    case 'currency':
      return search.min === undefined && search.max === undefined ? value : null;
    case 'from':
      return t('chip_day_from', { day: day(value) });
    case 'to':
      return t('chip_day_to', { day: day(value) });
    case 'network':
      return networkName(value);
    case 'coin':
      return value;
    case 'api':
      return t(`api_${search.api ?? 'order'}`);
    default:
      return t('chip_filter', { filter: t(PAYMENT_FILTERS[name].label), value });
  }
}
