import { useLocale } from '../locale.tsx';
import { InsteadOfPage } from './instead-of-page.tsx';

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
  return <InsteadOfPage icon="search" title={t('not_found_title')} text={t('not_found_text')} />;
}
