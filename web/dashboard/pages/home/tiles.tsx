import type { ReactNode } from 'react';
import type { HomeView } from '../../../../src/http/dashboard/contract/home.ts';
import { useLocale } from '../../locale.tsx';
import { classNames } from '../../ui/class-names.ts';
import css from './home-page.module.css';

interface TilesProps {
  readonly home: HomeView;
}

/** The figures of a period, compared with the period before. */
export function Tiles({ home }: TilesProps) {
  const { t, fiat, number, percent, duration } = useLocale();
  const { volume, created, completed, conversion, median_seconds: median, currency, days } = home;
  const share = (value: string): number => Number(value) * 100;
  return (
    <dl className={css.tiles}>
      <Tile name={t('volume')} value={volume.value === null ? null : fiat(volume.value, currency)}>
        <Growth {...volume} days={days} />
      </Tile>
      <Tile name={t('created_payments')} value={created.value === null ? null : number(Number(created.value))}>
        <Growth {...created} days={days} />
      </Tile>
      <Tile name={t('completed')} value={completed.value === null ? null : number(Number(completed.value))}>
        <Growth {...completed} days={days} />
      </Tile>
      <Tile name={t('conversion')} value={conversion.value === null ? null : percent(share(conversion.value))}>
        {conversion.value === null || conversion.before === null ? (
          <NoComparison days={days} />
        ) : (
          <Change by={share(conversion.value) - share(conversion.before)} unit="points" days={days} />
        )}
      </Tile>
      <Tile name={t('median')} value={median.value === null ? null : duration(median.value * 1_000)}>
        {median.value === null || median.before === null || median.before === 0 ? (
          <NoComparison days={days} />
        ) : (
          <Change by={((median.value - median.before) / median.before) * 100} unit="percent" days={days} isWorse />
        )}
      </Tile>
    </dl>
  );
}

interface TileProps {
  readonly name: string;
  /** Null if it cannot be computed. */
  readonly value: string | null;
  readonly children: ReactNode;
}

function Tile({ name, value, children }: TileProps) {
  return (
    <div className={css.tile}>
      <dt>{name}</dt>
      <dd className={css.value}>{value ?? '–'}</dd>
      <dd className={css.change}>{children}</dd>
    </div>
  );
}

interface GrowthProps {
  readonly value: string | null;
  readonly before: string | null;
  readonly days: number;
}

function Growth({ value, before, days }: GrowthProps) {
  const [now, then] = [Number(value ?? 0), Number(before ?? 0)];
  if (then === 0) return <NoComparison days={days} />;
  return <Change by={((now - then) / then) * 100} unit="percent" days={days} />;
}

function NoComparison({ days }: { readonly days: number }) {
  const { t } = useLocale();
  return days === 1 ? t('nothing_day_before') : t('nothing_before', { days });
}

interface ChangeProps {
  readonly by: number;
  readonly unit: 'percent' | 'points';
  /** Whether more is worse. */
  readonly isWorse?: boolean;
  readonly days: number;
}

function Change({ by, unit, days, isWorse = false }: ChangeProps) {
  const { t, number, percent } = useLocale();
  const rounded = Math.round(Math.abs(by) * 10) / 10;
  const amount = unit === 'percent' ? percent(rounded) : t('points', { number: number(rounded) });
  if (rounded === 0) return days === 1 ? t('same_day_before') : t('same_before', { days });
  return (
    <>
      <span className={classNames(by > 0 !== isWorse ? css.up : css.down)}>
        <span aria-hidden="true">{by > 0 ? '▲' : '▼'}</span> {t(by > 0 ? 'more_by' : 'less_by', { amount })}
      </span>{' '}
      {days === 1 ? t('than_day_before') : t('than_before', { days })}
    </>
  );
}
