import type { ReactNode } from 'react';
import type { HomeView } from '../../../../src/http/dashboard/contract/home.ts';
import { useLocale } from '../../locale.tsx';
import { classNames } from '../../ui/class-names.ts';
import css from './home-page.module.css';
import type { HomePeriod } from './queries.ts';

interface TilesProps {
  readonly home: HomeView;
  readonly period: HomePeriod;
}

/** The figures of a period, compared with the period before. */
export function Tiles({ home, period }: TilesProps) {
  const { t, fiat, number, percent } = useLocale();
  const { volume, created, completed, conversion, currency } = home;
  const share = (value: string): number => Number(value) * 100;
  return (
    <dl className={css.tiles}>
      <Tile name={t('volume')} value={volume.value === null ? null : fiat(volume.value, currency)}>
        <Growth {...volume} period={period} />
      </Tile>
      <Tile name={t('created_payments')} value={created.value === null ? null : number(Number(created.value))}>
        <Growth {...created} period={period} />
      </Tile>
      <Tile name={t('completed')} value={completed.value === null ? null : number(Number(completed.value))}>
        <Growth {...completed} period={period} />
      </Tile>
      <Tile name={t('conversion')} value={conversion.value === null ? null : percent(share(conversion.value))}>
        {conversion.value === null || conversion.before === null ? (
          <NoComparison period={period} />
        ) : (
          <Change by={share(conversion.value) - share(conversion.before)} unit="points" period={period} />
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
  readonly period: HomePeriod;
}

function Growth({ value, before, period }: GrowthProps) {
  const [now, then] = [Number(value ?? 0), Number(before ?? 0)];
  if (then === 0) return <NoComparison period={period} />;
  return <Change by={((now - then) / then) * 100} unit="percent" period={period} />;
}

function NoComparison({ period }: { readonly period: HomePeriod }) {
  const { t } = useLocale();
  return t(`nothing_before_${period}`);
}

interface ChangeProps {
  readonly by: number;
  readonly unit: 'percent' | 'points';
  readonly period: HomePeriod;
}

function Change({ by, unit, period }: ChangeProps) {
  const { t, number, percent } = useLocale();
  const rounded = Math.round(Math.abs(by) * 10) / 10;
  const amount = unit === 'percent' ? percent(rounded) : t('points', { number: number(rounded) });
  if (rounded === 0) return t(`same_${period}`);
  return (
    <>
      <span className={classNames(by > 0 ? css.up : css.down)}>
        <span aria-hidden="true">{by > 0 ? '▲' : '▼'}</span> {t(by > 0 ? 'more_by' : 'less_by', { amount })}
      </span>{' '}
      {t(`than_before_${period}`)}
    </>
  );
}
