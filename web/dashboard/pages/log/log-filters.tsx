import { useLocale } from '../../locale.tsx';
import { PERIOD_NAMES, type Period, type SearchChange } from '../../search.ts';
import { LinkButton } from '../../ui/button.tsx';
import { SearchField, Select } from '../../ui/field.tsx';
import css from '../payments/payments-page.module.css';

type Options = readonly (readonly [value: string, text: string])[];

/**
 * A filter: its name in the search and its label. A filter with a choice also has its options, first the one for no
 * filter.
 */
type FilterRow =
  | readonly [name: string, label: string]
  | readonly [name: string, label: string, any: string, options: Options];

interface LogFiltersProps {
  readonly search: SearchChange;
  readonly isNarrowed: boolean;
  readonly rows: readonly FilterRow[];
  readonly onChange: (change: SearchChange) => void;
  readonly onClear: () => void;
}

/** The filters of a log, which are in the URL. */
export function LogFilters({ search, isNarrowed, rows, onChange, onClear }: LogFiltersProps) {
  const { t } = useLocale();
  return (
    <div className={css.filters} role="search">
      {rows.map(([name, label, any, options]) => {
        const value = search[name] ?? '';
        const choose = (text: string | undefined): void => onChange({ [name]: text === '' ? undefined : text });
        if (options === undefined) return <SearchField key={name} label={label} text={value} onText={choose} />;
        return (
          <Select
            key={name}
            label={label}
            value={value}
            options={withAny(any ?? '', options, value)}
            onValue={choose}
          />
        );
      })}
      {isNarrowed ? <LinkButton onClick={onClear}>{t('clear_filters')}</LinkButton> : null}
    </div>
  );
}

/** The filter by the age of the rows. */
export function usePeriodRow(periods: readonly Period[] = PERIOD_NAMES): FilterRow {
  const { t } = useLocale();
  return ['period', t('period'), t('period_any'), periods.map((one) => [one, t(`period_${one}`)])];
}

/** The options of a filter, "any" first. The URL's value is among them, even if it is not offered. */
export function withAny(any: string, options: Options, value: string): Options {
  const isOffered = value === '' || options.some(([one]) => one === value);
  return [['', any], ...(isOffered ? [] : [[value, value] as const]), ...options];
}

/** Words that are shown unchanged. */
export function asOptions(words: readonly string[] = []): Options {
  return words.map((word) => [word, word]);
}
