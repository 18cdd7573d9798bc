import { useLocale } from '../../locale.tsx';
import { Select } from '../../ui/field.tsx';
import { PERIODS } from '../payments/search.ts';
import { isPeriod, type Period } from './period.ts';

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
    <Select
      label={t('period')}
      value={period ?? ''}
      options={[['', t('period_any')], ...periods.map((one) => [one, t(`period_${one}`)] as const)]}
      onValue={(value) => onPeriod(isPeriod(value) ? value : undefined)}
    />
  );
}

type Option = readonly [value: string, text: string];

/** The options of a filter, "any" first. What the URL asks for stands among them, even if it is not offered. */
export function withChosen(any: string, options: readonly Option[], chosen: string | undefined): readonly Option[] {
  const isOffered = chosen === undefined || options.some(([value]) => value === chosen);
  return [['', any], ...(isOffered ? [] : [[chosen, chosen] as const]), ...options];
}
