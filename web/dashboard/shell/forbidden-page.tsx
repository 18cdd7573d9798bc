import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { SESSION_KEY } from '../dashboard.ts';
import { useLocale } from '../locale.tsx';
import { InsteadOfPage } from './instead-of-page.tsx';

/**
 * In place of a page that the person's role does not permit, also when the role was changed while the page was open:
 * nothing asks for its contents any more, and what was read before is forgotten.
 */
export function ForbiddenPage() {
  const { t } = useLocale();
  useForgetting();
  return <InsteadOfPage icon="warning" title={t('forbidden_title')} text={t('forbidden_text')} />;
}

/** In place of a page of a project in which the person had a role when they opened it. */
export function NoAccessPage() {
  const { t } = useLocale();
  useForgetting();
  return <InsteadOfPage icon="warning" title={t('access_lost')} text={t('access_lost_text')} />;
}

function useForgetting(): void {
  const queries = useQueryClient();
  useEffect(() => {
    // What is still on the screen, such as the number beside Needs attention, is in use.
    queries.removeQueries({ type: 'inactive', predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
  }, [queries]);
}
