import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useChange } from '../../change.ts';
import { useLocale } from '../../locale.tsx';
import { Button } from '../../ui/button.tsx';
import { Notice, Problem } from '../../ui/notice.tsx';
import { retryQuery, runningRetryQuery } from './queries.ts';
import css from './webhooks.module.css';
import { useActions } from '../../session.ts';
import { useScope } from '../../scope.ts';

/**
 * Without progress for this long, an endpoint is slow, or deliveries claimed by a killed process wait for the end of
 * their lease.
 */
const STILL_MS = 4_000;

/** The progress of deliveries that are sent again together, while they are sent and at the end. */
export function RetryProgress() {
  const running = useQuery(runningRetryQuery(useScope())).data?.running ?? null;
  return <div role="status">{running === null ? null : <Progress key={running.id} retry={running.id} />}</div>;
}

function Progress({ retry: id }: { readonly retry: string }) {
  const { t, number } = useLocale('webhooks');
  const scope = useScope();
  const { data: retry } = useQuery(retryQuery(scope, id));
  const mayManage = useActions().includes('manage_webhooks');
  const isStill = useIsStill(retry?.done);
  const stop = useChange({
    send: (api) =>
      api('POST /dashboard/api/projects/:project/:mode/delivery-retries/:retry/stop', {
        params: { ...scope, retry: id },
      }),
    shows: retryQuery(scope, id),
  });
  if (retry === undefined) return null;
  const { total, done, delivered } = retry;
  const counts = { total: number(total), done: number(done), delivered: number(delivered) };
  if (retry.stopped_at !== null)
    return (
      <div className={css.retry}>
        <Notice>{t('retry_stopped', counts)}</Notice>
      </div>
    );
  if (done === total) {
    return (
      <div className={css.retry}>
        <Notice kind={delivered === total ? 'good' : 'warning'}>{t('retry_done', counts)}</Notice>
      </div>
    );
  }
  return (
    <div className={css.retry}>
      <div className={css.retryHead}>
        <span>{t('retry_progress', counts)}</span>
        {mayManage ? (
          <Button small busy={stop.isPending} onClick={() => stop.mutate()}>
            {t('retry_stop')}
          </Button>
        ) : null}
      </div>
      {isStill ? <Notice>{t('retry_still')}</Notice> : null}
      <progress max={total} value={done} aria-label={t('retry_progress', counts)} />
      <Problem error={stop.error} />
    </div>
  );
}

/** Whether the number of attempted deliveries has been the same for {@link STILL_MS}. */
function useIsStill(done: number | undefined): boolean {
  const [still, setStill] = useState<number | null>(null);
  useEffect(() => {
    if (done === undefined) return undefined;
    const timer = setTimeout(() => setStill(done), STILL_MS);
    return () => clearTimeout(timer);
  }, [done]);
  return done !== undefined && still === done;
}
