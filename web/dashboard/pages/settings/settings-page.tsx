import { useLocale } from '../../locale.tsx';
import { Page } from '../../shell/page.tsx';

export function SettingsPage() {
  const { t } = useLocale('settings');
  return (
    <Page title={t('settings')}>
      <p>{t('settings_intro')}</p>
    </Page>
  );
}
