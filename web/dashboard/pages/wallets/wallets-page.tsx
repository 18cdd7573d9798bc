import { useLocale } from '../../locale.tsx';
import { Page } from '../../shell/page.tsx';

export function WalletsPage() {
  const { t } = useLocale('wallets');
  return (
    <Page title={t('wallets')}>
      <p>{t('wallets_intro')}</p>
    </Page>
  );
}
