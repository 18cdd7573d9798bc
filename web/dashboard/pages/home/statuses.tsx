import { Link } from '@tanstack/react-router';
import type { HomeView } from '../../../../src/http/dashboard/contract/home.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { Card } from '../../ui/card.tsx';
import { STATUS_GROUPS, type StatusGroup } from '../payments/status-groups.ts';
import css from './home-page.module.css';

interface StatusesProps {
  readonly statuses: HomeView['statuses'];
}

/** The number of payments in each group of statuses, with links to them. */
export function Statuses({ statuses }: StatusesProps) {
  const { t, number } = useLocale();
  const scope = useScope();
  const groups = (Object.keys(STATUS_GROUPS) as StatusGroup[]).map((group) => {
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
