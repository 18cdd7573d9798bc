import { useLocale } from '../../locale.tsx';
import { Page } from '../../shell/page.tsx';

export function SweepsPage() {
  const { t } = useLocale('sweeps');
  return (
    <Page title={t('sweeps')}>
      <p>{t('sweeps_intro')}</p>
    </Page>
  );
}
