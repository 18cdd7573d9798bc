import { useMutation } from '@tanstack/react-query';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { ConfirmDialog } from '../../ui/action-dialog.tsx';
import { retryQuery, runningRetryQuery } from './queries.ts';
import { filtersOf, type WebhooksSearch } from './search.ts';

interface RetryAllDialogProps {
  readonly search: WebhooksSearch;
  readonly onClose: () => void;
}

/** Sends everything again that matches the filters and did not arrive. */
export function RetryAllDialog({ search, onClose }: RetryAllDialogProps) {
  const { t } = useLocale('webhooks');
  const { api, queries } = useDashboard();
  const scope = useScope();
  const retry = useMutation({
    mutationFn: () =>
      api('POST /dashboard/api/projects/:project/:mode/delivery-retries', {
        params: { ...scope },
        body: filtersOf(search),
      }),
    onSuccess: (started) => {
      queries.setQueryData(retryQuery(api, scope, started.id).queryKey, started);
      queries.setQueryData(runningRetryQuery(api, scope).queryKey, { running: started });
      onClose();
    },
  });
  return <ConfirmDialog name={t('retry_all')} text={t('retry_all_text')} action={retry} onClose={onClose} />;
}
