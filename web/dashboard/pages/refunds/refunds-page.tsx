import { useLocale } from '../../locale.tsx';
import { Page } from '../../shell/page.tsx';

export function RefundsPage() {
  const { t } = useLocale('refunds');
  return (
    <Page title={t('refunds')}>
      <p>{t('refunds_intro')}</p>
    </Page>
  );
}
