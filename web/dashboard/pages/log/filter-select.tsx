import { useLocale } from '../../locale.tsx';
import { Select } from '../../ui/field.tsx';
import { PERIODS } from '../payments/search.ts';
import { isPeriod, type Period } from './search.ts';
import type { LogChange } from './use-log.ts';

interface FilterSelectProps {
  readonly label: string;
  /** The option that stands for no filter. */
  readonly any: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly chosen: string | undefined;
  readonly onChoose: (value: string | undefined) => void;
}

/** A filter of a list, "any" first. What the URL asks for stands among the options, even if it is not offered. */
function FilterSelect({ label, any, options, chosen, onChoose }: FilterSelectProps) {
  const isOffered = chosen === undefined || options.some(([value]) => value === chosen);
  const own = isOffered ? [] : [[chosen, chosen] as const];
  return (
    <Select
      label={label}
      value={chosen ?? ''}
      options={[['', any], ...own, ...options]}
      onValue={(value) => onChoose(value === '' ? undefined : value)}
    />
  );
}

/** A filter by a choice: its name in the search, its label, what stands for no filter, and the options. */
type FilterRow = readonly [name: string, label: string, any: string, options: FilterSelectProps['options']];

interface FilterSelectsProps {
  readonly rows: readonly FilterRow[];
  readonly search: object;
  readonly onChange: (change: LogChange) => void;
}

/** The filters of a log that are chosen from a list each. */
export function FilterSelects({ rows, search, onChange }: FilterSelectsProps) {
  const chosen = new Map<string, unknown>(Object.entries(search));
  return rows.map(([name, label, any, options]) => {
    const value = chosen.get(name);
    return (
      <FilterSelect
        key={name}
        label={label}
        any={any}
        options={options}
        chosen={typeof value === 'string' ? value : undefined}
        onChoose={(one) => onChange({ [name]: one })}
      />
    );
  });
}

/** Words that are shown as they are. */
export function asOptions(words: readonly string[]): FilterSelectProps['options'] {
  return words.map((word) => [word, word]);
}

interface PeriodSelectProps {
  readonly period: Period | undefined;
  /** By default all. */
  readonly offered?: readonly Period[];
  readonly onPeriod: (period: Period | undefined) => void;
}

/** How far back a list goes. */
export function PeriodSelect({ period, offered, onPeriod }: PeriodSelectProps) {
  const { t } = useLocale();
  const periods = offered ?? Object.keys(PERIODS).filter(isPeriod);
  return (
    <FilterSelect
      label={t('period')}
      any={t('period_any')}
      options={periods.map((one) => [one, t(`period_${one}`)] as const)}
      chosen={period}
      onChoose={(value) => onPeriod(isPeriod(value) ? value : undefined)}
    />
  );
}
