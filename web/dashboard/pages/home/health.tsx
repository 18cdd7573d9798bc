import type { HomeView } from '../../../../src/http/dashboard/contract/home.ts';
import { useLocale } from '../../locale.tsx';
import { Card } from '../../ui/card.tsx';
import { classNames } from '../../ui/class-names.ts';
import css from './home-page.module.css';

const LINES = ['networks', 'webhooks', 'backups', 'clock'] as const;

/** The health of networks, webhooks, backups and the clock. */
export function Health({ health }: { readonly health: HomeView['health'] }) {
  const { t } = useLocale();
  return (
    <Card title={t('health')}>
      <dl className={css.lines}>
        {LINES.map((name) => {
          const { state, detail } = health[name];
          return (
            <div key={name}>
              <dt>{t(`health_${name}`)}</dt>
              <dd>
                <span className={classNames(css.state, css[state])}>{t(`health_${state}`)}</span>
                {detail === null ? null : <small>{detail}</small>}
              </dd>
            </div>
          );
        })}
      </dl>
    </Card>
  );
}
