import { Link } from '@tanstack/react-router';
import { useLocale } from '../locale.tsx';
import { buttonClass } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Page } from './page.tsx';

/** The same without the frame of pages. */
export function NotFoundInMain() {
  return (
    <main>
      <NotFoundPage />
    </main>
  );
}

/** For URLs that do not exist or that this person may not see. */
export function NotFoundPage() {
  const { t } = useLocale();
  return (
    <Page title={t('not_found_title')} isHidden>
      <Empty icon="search" title={t('not_found_title')} text={t('not_found_text')}>
        <Link className={buttonClass({ kind: 'primary' })} to="/">
          {t('to_home')}
        </Link>
      </Empty>
    </Page>
  );
}
