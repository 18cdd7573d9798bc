import { useLocale } from '../../locale.tsx';
import { Page } from '../../shell/page.tsx';
import { Empty } from '../../ui/empty.tsx';

/** For people without a role in any project. */
export function NoProjectPage() {
  const { t } = useLocale();
  return (
    <Page title={t('home')}>
      <Empty icon="home" title={t('no_project')} text={t('no_project_text')} />
    </Page>
  );
}
