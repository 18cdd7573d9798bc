import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { HomeView } from '../../../../src/http/dashboard/home/contract.ts';
import { useLocale, type Locale } from '../../locale.tsx';
import { classNames } from '../../ui/class-names.ts';
import { GROUP_NAMES, STATUS_GROUPS } from '../../status-groups.ts';
import css from './home-page.module.css';
import { Card } from '../../ui/card.tsx';
import { networkName } from '../../formats.ts';
import { useScope } from '../../scope.ts';

interface TilesProps {
  readonly home: HomeView;
}

/** The figures of a period, compared with the period before. */
export function Tiles({ home }: TilesProps) {
  const { t, fiat, number, percent, duration } = useLocale();
  const { volume, created, completed, conversion, median_seconds: median, statuses, currency } = home;
  const share = (value: string): number => Number(value) * 100;
  return (
    <dl className={css.tiles}>
      <Tile name={t('volume')} value={volume.value === null ? null : fiat(volume.value, currency)}>
        <Growth {...volume} />
      </Tile>
      <Tile name={t('created_payments')} value={created.value === null ? null : number(Number(created.value))}>
        <Growth {...created} />
      </Tile>
      <Tile name={t('completed')} value={completed.value === null ? null : number(Number(completed.value))}>
        <Growth {...completed} />
      </Tile>
      <Tile
        name={t('conversion')}
        value={conversion.value === null ? null : percent(share(conversion.value))}
        more={t('conversion_of', { completed: number(Number(completed.value ?? 0)), ended: number(endedOf(statuses)) })}
      >
        {conversion.value === null || conversion.before === null ? (
          t('nothing_before')
        ) : (
          <Change by={share(conversion.value) - share(conversion.before)} unit="points" />
        )}
      </Tile>
      <Tile
        name={t('median')}
        value={median.value === null ? null : duration(median.value * 1_000)}
        more={t('median_of')}
      >
        {median.value === null || median.before === null || median.before === 0 ? (
          t('nothing_before')
        ) : (
          <Change by={((median.value - median.before) / median.before) * 100} unit="percent" isWorse />
        )}
      </Tile>
    </dl>
  );
}

const RUNNING: readonly string[] = [...STATUS_GROUPS.open, ...STATUS_GROUPS.confirming];

/** The number of payments that ended: conversion counts no others. */
function endedOf(statuses: HomeView['statuses']): number {
  return statuses.reduce((sum, { status, payments }) => (RUNNING.includes(status) ? sum : sum + payments), 0);
}

interface TileProps {
  readonly name: string;
  /** Null if it cannot be computed. */
  readonly value: string | null;
  /** The parts of the value. */
  readonly more?: string;
  /** The comparison with the time before. */
  readonly children: ReactNode;
}

function Tile({ name, value, more, children }: TileProps) {
  return (
    <div className={css.tile}>
      <dt>{name}</dt>
      <dd className={css.value}>{value ?? '–'}</dd>
      <dd className={css.change}>
        {children}
        {more === undefined || value === null ? null : <div>{more}</div>}
      </dd>
    </div>
  );
}

interface GrowthProps {
  readonly value: string | null;
  readonly before: string | null;
}

function Growth({ value, before }: GrowthProps) {
  const { t } = useLocale();
  const [now, then] = [Number(value ?? 0), Number(before ?? 0)];
  if (then === 0) return t('nothing_before');
  return <Change by={((now - then) / then) * 100} unit="percent" />;
}

interface ChangeProps {
  readonly by: number;
  readonly unit: 'percent' | 'points';
  /** Whether a higher value is worse. */
  readonly isWorse?: boolean;
}

function Change({ by, unit, isWorse = false }: ChangeProps) {
  const { t, number, percent } = useLocale();
  const rounded = Math.round(Math.abs(by) * 10) / 10;
  const amount = unit === 'percent' ? percent(rounded) : t('points', { number: number(rounded) });
  if (rounded === 0) return t('same_before');
  return (
    <span className={classNames(by > 0 !== isWorse ? css.up : css.down)}>
      <span aria-hidden="true">{`${by > 0 ? '▲' : '▼'} ${amount}`}</span>
      <span className="unseen">{t(by > 0 ? 'more_by' : 'less_by', { amount })}</span>
    </span>
  );
}

/** Completed payments by coin and network. */
export function Tokens({ tokens, currency }: Pick<HomeView, 'tokens' | 'currency'>) {
  const { t, fiat, number, duration } = useLocale();
  return (
    <Card title={t('by_token')}>
      {tokens.length === 0 ? (
        <p className={css.change}>{t('no_completed')}</p>
      ) : (
        <div className={css.wide} role="group" tabIndex={0} aria-label={t('by_token')}>
          <table className={css.table}>
            <thead>
              <tr>
                <th scope="col">{t('coin')}</th>
                <th scope="col">{t('completed')}</th>
                <th scope="col">{t('volume')}</th>
                <th scope="col">{t('median')}</th>
              </tr>
            </thead>
            <tbody>
              {tokens.map(({ asset, network, payments, volume, median_seconds: median }) => (
                <tr key={`${asset} ${network}`}>
                  <th scope="row">
                    {asset} <small>{networkName(network)}</small>
                  </th>
                  <td>{number(payments)}</td>
                  <td>{fiat(volume, currency)}</td>
                  <td>{median === null ? '–' : duration(median * 1_000)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}

/** The sums of the payments' own amounts; hidden if all are in the project's currency. */
export function Currencies({ currencies, currency, unvalued }: Pick<HomeView, 'currencies' | 'currency' | 'unvalued'>) {
  const { t, fiat, number } = useLocale();
  if (currencies.every((one) => one.currency === currency)) return null;
  return (
    <Card title={t('by_currency')}>
      <dl className={css.lines}>
        {currencies.map((one) => (
          <div key={one.currency}>
            <dt>
              {one.currency} <small>({number(one.payments)})</small>
            </dt>
            <dd>{fiat(one.amount, one.currency)}</dd>
          </div>
        ))}
      </dl>
      {unvalued === 0 ? null : <p className={css.note}>{t('not_in_volume', { count: unvalued, currency })}</p>}
    </Card>
  );
}

interface StatusesProps {
  readonly statuses: HomeView['statuses'];
}

/** The number of payments in each group of statuses, with links to them. */
export function Statuses({ statuses }: StatusesProps) {
  const { t, number } = useLocale();
  const scope = useScope();
  const groups = GROUP_NAMES.map((group) => {
    const within: readonly string[] = STATUS_GROUPS[group];
    const count = statuses
      .filter(({ status }) => within.includes(status))
      .reduce((sum, { payments }) => sum + payments, 0);
    return { group, count };
  });
  const most = Math.max(1, ...groups.map(({ count }) => count));
  return (
    <Card title={t('by_status_title')}>
      <ul className={css.bars}>
        {groups.map(({ group, count }) => (
          <li key={group}>
            <Link to="/projects/$project/$mode/payments" params={scope} search={{ status: group }}>
              {t(`group_${group}`)}
            </Link>
            <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
              <rect width={(count / most) * 100} height="4" />
            </svg>
            <span>{number(count)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

type HealthFault = HomeView['health']['networks']['faults'][number];

function faultText({ kind, subject, said, at, count }: HealthFault, { t, dateTime, duration }: Locale): string {
  const name = subject ?? '';
  switch (kind) {
    case 'halted':
    case 'network_warning':
      return `${name}: ${said ?? ''}`;
    case 'clock':
      return t('fault_clock', { off: duration(count * 1_000) });
    case 'lost_transfers':
      return t('fault_lost_transfers', { name, count });
    case 'backup_failed':
    case 'backup_old': {
      const last = at === null ? t('fault_no_backup') : t('fault_last_backup', { at: dateTime(at) });
      return kind === 'backup_old' ? last : `${t('fault_backup_failed')} ${last}`;
    }
    default:
      return t(`fault_${kind}`, { name });
  }
}

const LINES = ['networks', 'webhooks', 'backups', 'clock'] as const;

/** The health of networks, webhooks, backups and the clock. */
export function Health({ health }: { readonly health: HomeView['health'] }) {
  const locale = useLocale();
  const { t } = locale;
  return (
    <Card title={t('health')}>
      <dl className={css.lines}>
        {LINES.map((name) => {
          const { state, faults } = health[name];
          return (
            <div key={name}>
              <dt>{t(`health_${name}`)}</dt>
              <dd>
                <span className={classNames(css.state, css[state])}>{t(`health_${state}`)}</span>
                {faults.map((fault) => (
                  <small key={`${fault.kind} ${fault.subject}`}>{faultText(fault, locale)}</small>
                ))}
              </dd>
            </div>
          );
        })}
      </dl>
    </Card>
  );
}
