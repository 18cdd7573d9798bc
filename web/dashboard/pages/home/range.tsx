import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { DayInput, Select } from '../../ui/field.tsx';
import css from './home-page.module.css';
import { HOME_PERIODS, type HomeSearch } from './search.ts';

interface RangeProps {
  readonly search: HomeSearch;
  /** The shown days. */
  readonly shown: { readonly from: string; readonly to: string } | undefined;
}

/** Chooses the days, which the URL then contains. */
export function Range({ search, shown }: RangeProps) {
  const { t } = useLocale();
  const scope = useScope();
  const navigate = useNavigate();
  const go = (next: HomeSearch): void => {
    void navigate({ to: '/projects/$project/$mode', params: scope, search: next, replace: true });
  };
  const isCustom = search.from !== undefined;
  return (
    <>
      {isCustom ? <Days key={`${search.from} ${search.to}`} from={search.from} to={search.to} onDays={go} /> : null}
      <Select
        label={t('period')}
        value={isCustom ? 'custom' : (search.period ?? '30d')}
        options={[...HOME_PERIODS.map((one) => [one, t(`range_${one}`)] as const), ['custom', t('range_custom')]]}
        onValue={(value) => {
          const period = HOME_PERIODS.find((one) => one === value);
          if (period !== undefined) go({ period });
          else if (shown !== undefined) go(shown);
        }}
      />
    </>
  );
}

interface DaysProps {
  readonly from: string;
  readonly to: string;
  readonly onDays: (days: { readonly from: string; readonly to: string }) => void;
}

/** Typing a date passes through other dates, so it is used only after a pause. */
const TYPED_MS = 600;

function Days({ from, to, onDays }: DaysProps) {
  const { t } = useLocale();
  const [days, setDays] = useState({ from, to });
  useEffect(() => {
    const isDone = days.from !== '' && days.to !== '' && days.from <= days.to;
    if (!isDone || (days.from === from && days.to === to)) return undefined;
    const timer = setTimeout(() => onDays(days), TYPED_MS);
    return () => clearTimeout(timer);
  }, [days, from, to, onDays]);
  return (
    <span className={css.days}>
      <DayInput
        label={t('first_day')}
        value={days.from}
        max={days.to}
        onDay={(day) => setDays({ ...days, from: day })}
      />
      –
      <DayInput label={t('last_day')} value={days.to} min={days.from} onDay={(day) => setDays({ ...days, to: day })} />
    </span>
  );
}
