import { Link } from '@tanstack/react-router';
import { useLocale } from '../locale.tsx';
import { buttonClass } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Page } from './page.tsx';

/** The same where there is no frame around it. */
export function NotFoundInMain() {
  return (
    <main>
      <NotFoundPage />
    </main>
  );
}

/** An address that leads nowhere, or to what is not this person's to see. */
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
