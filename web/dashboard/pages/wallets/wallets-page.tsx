import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useLocale } from '../../locale.tsx';
import { useActions } from '../../session.ts';
import { Page } from '../../shell/page.tsx';
import { buttonClass } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Empty, NotLoaded } from '../../ui/placeholder.tsx';
import rows from '../../ui/row.module.css';
import { CoinsCard } from './coins-card.tsx';
import { NetworksCard } from './networks-card.tsx';
import { PricesCard } from './prices-card.tsx';
import { WalletsCard } from './wallets-card.tsx';
import { walletsQuery } from './term-fields.tsx';
import { useScope } from '../../scope.ts';

/** The wallets of live payments, their terms, and the state of the networks. */
export function WalletsPage() {
  const { t } = useLocale('wallets');
  const scope = useScope();
  return (
    <Page title={t('wallets')} hasTimes={scope.mode === 'live'}>
      <div className={rows.stack}>{scope.mode === 'live' ? <Wallets /> : <InTestMode />}</div>
    </Page>
  );
}

function InTestMode() {
  const { t } = useLocale('wallets');
  const scope = useScope();
  return (
    <Card>
      <Empty icon="wallet" title={t('wallets_test_title')} text={t('wallets_test_text')}>
        <Link
          to="/projects/$project/$mode/wallets"
          params={{ ...scope, mode: 'live' }}
          className={buttonClass({ kind: 'primary' })}
        >
          {t('wallets_in_live')}
        </Link>
      </Empty>
    </Card>
  );
}

function Wallets() {
  const scope = useScope();
  const wallets = useQuery(walletsQuery(scope));
  const mayManage = useActions().includes('manage_wallets');
  if (wallets.data === undefined) {
    return (
      <Card>
        <NotLoaded query={wallets} rows={4} />
      </Card>
    );
  }
  return (
    <>
      <WalletsCard networks={wallets.data.networks} mayManage={mayManage} />
      <CoinsCard wallets={wallets.data} mayManage={mayManage} />
      <PricesCard wallets={wallets.data} mayManage={mayManage} />
      <NetworksCard networks={wallets.data.networks} />
    </>
  );
}
