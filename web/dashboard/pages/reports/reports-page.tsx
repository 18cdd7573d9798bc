import { useLocale } from '../../locale.tsx';
import { Page } from '../../shell/page.tsx';

export function ReportsPage() {
  const { t } = useLocale('reports');
  return (
    <Page title={t('reports')}>
      <p>{t('reports_intro')}</p>
    </Page>
  );
}
