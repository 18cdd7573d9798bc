import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { SESSION_KEY } from '../dashboard.ts';
import { useLocale } from '../locale.tsx';
import { buttonClass } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Page } from './page.tsx';

/**
 * In place of a page that the person's role does not permit, also when the role was changed while the page was open:
 * nothing asks for its contents any more, and what was read before is forgotten.
 */
export function ForbiddenPage() {
  const { t } = useLocale();
  const queries = useQueryClient();
  useEffect(() => {
    // What is still on the screen, such as the number beside Needs attention, is in use.
    queries.removeQueries({ type: 'inactive', predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
  }, [queries]);
  return (
    <Page title={t('forbidden_title')} isHidden>
      <Empty icon="warning" title={t('forbidden_title')} text={t('forbidden_text')}>
        <Link className={buttonClass({ kind: 'primary' })} to="/">
          {t('to_home')}
        </Link>
      </Empty>
    </Page>
  );
}
