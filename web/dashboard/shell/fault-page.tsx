import { useQueryClient } from '@tanstack/react-query';
import { useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { ApiFault } from '../api.ts';
import { useLocale } from '../locale.tsx';
import { problemText } from '../problem.ts';
import { isMissingScript } from '../report-caught.ts';
import { SignedOut } from '../session.ts';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { NotFoundPage } from './not-found-page.tsx';
import { Page } from './page.tsx';

/** The same without the frame of pages. */
export function FaultInMain(props: ErrorComponentProps) {
  return (
    <main>
      <FaultPage {...props} />
    </main>
  );
}

/** Shown instead of a page that failed. */
export function FaultPage({ error, reset }: ErrorComponentProps) {
  const { t } = useLocale();
  const router = useRouter();
  const queries = useQueryClient();
  if (error instanceof ApiFault && error.status === 404) return <NotFoundPage />;
  // The sign-in dialog is open.
  if (error instanceof SignedOut) return null;
  const isMissing = isMissingScript(error);
  const isOffline = error instanceof ApiFault ? error.type === 'offline' : isMissing && !navigator.onLine;
  const isOutdated = isMissing && !isOffline;
  return (
    <Page title={t('fault_title')} isHidden>
      <Empty
        icon={isOffline ? 'offline' : 'warning'}
        title={t(isOutdated ? 'new_version_title' : isOffline ? 'fault_offline_title' : 'fault_title')}
        text={isOutdated ? t('new_version') : isOffline ? t('fault_offline') : problemText(error, t)}
      >
        <Button
          kind="primary"
          onClick={() => {
            if (isMissing) {
              // Without a connection the browser would put its own page in place of this one.
              if (navigator.onLine) location.reload();
              return;
            }
            void queries.resetQueries({ predicate: ({ state }) => state.status === 'error' });
            reset();
            void router.invalidate();
          }}
        >
          {t(isOutdated ? 'reload' : 'try_again')}
        </Button>
      </Empty>
    </Page>
  );
}
