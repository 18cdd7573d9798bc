import { Navigate } from '@tanstack/react-router';
import { useLocale } from '../../locale.tsx';
import { homeScope } from '../../scope.ts';
import { useSignedIn } from '../../session.ts';
import { Page } from '../../shell/page.tsx';
import { Empty } from '../../ui/empty.tsx';

/** For people without a role in any project. */
export function NoProjectPage() {
  const { t } = useLocale();
  const scope = homeScope(useSignedIn());
  // They were given a role while the page was open.
  if (scope !== null) return <Navigate to="/projects/$project/$mode" params={scope} replace />;
  return (
    <Page title={t('home')}>
      <Empty icon="home" title={t('no_project')} text={t('no_project_text')} />
    </Page>
  );
}
