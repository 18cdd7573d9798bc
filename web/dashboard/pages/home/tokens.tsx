import type { HomeView } from '../../../../src/http/dashboard/home/contract.ts';
import { useLocale } from '../../locale.tsx';
import { Card } from '../../ui/card.tsx';
import { networkName } from '../payments/network-name.ts';
import css from './home-page.module.css';

/** What was completed, by coin and network. */
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

/** What the payments' own amounts add up to; only where there is more than dollars to say. */
export function Currencies({ currencies, currency }: Pick<HomeView, 'currencies' | 'currency'>) {
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
    </Card>
  );
}
