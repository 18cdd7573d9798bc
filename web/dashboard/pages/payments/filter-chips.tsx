import { PAYMENT_FILTERS } from '../../../../src/domain/payment-filters.ts';
import { useLocale, type Locale } from '../../locale.tsx';
import { Icon } from '../../ui/icons.tsx';
import css from './payments-page.module.css';
import { networkName } from '../../formats.ts';
import type { SearchChange } from '../../search.ts';
import { MORE_FILTERS, type MoreFilter, type PaymentsSearch } from './search.ts';

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
function chipText(name: MoreFilter, search: PaymentsSearch, { t, day }: Locale<'list'>): string | null {
  const value = search[name];
  if (value === undefined) return null;
  const amount = search.currency === undefined ? value : `${value} ${search.currency}`;
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
