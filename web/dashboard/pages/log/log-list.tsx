import type { InfiniteData, UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query';
import { useEffect, type ReactNode } from 'react';
import { useLocale } from '../../locale.tsx';
import { problemText } from '../../problem.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Empty } from '../../ui/empty.tsx';
import type { IconName } from '../../ui/icons.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { ListFoot } from '../payments/list-foot.tsx';
import split from '../payments/payments-page.module.css';
import type { LogPage } from './use-log.ts';
import { withNewest } from './with-newest.ts';

interface LogListProps<Row> {
  readonly list: UseInfiniteQueryResult<InfiniteData<LogPage<Row>>>;
  /** The first page as it is now; what the stream of changes reports is requested again there. */
  readonly newest: UseQueryResult<LogPage<Row>>;
  /** Rows of further pages as they are now. */
  readonly further: readonly Row[];
  /** Instead of an empty list. */
  readonly empty: { readonly icon: IconName; readonly title: string; readonly text: string };
  /** Instead of a list that filters left empty; null without a filter. */
  readonly noMatch: string | null;
  readonly children: (rows: readonly Row[]) => ReactNode;
}

/** The rows of a log. Those that are shown stay up to date; new ones appear on a click, so that none moves away. */
export function LogList<Row extends { readonly id: string }>({
  list,
  newest,
  further,
  empty,
  noMatch,
  children,
}: LogListProps<Row>) {
  const { t } = useLocale();
  const isFilled = list.data?.pages[0]?.data.length === 0 && (newest.data?.data.length ?? 0) > 0;
  useEffect(() => {
    // Into an empty list everything may come: nothing moves.
    if (isFilled) void list.refetch();
  }, [isFilled]);
  if (list.isPending) return <SkeletonRows count={8} />;
  if (list.data === undefined) {
    return (
      <Card flush>
        <Empty icon="warning" title={t('fault_title')} text={problemText(list.error, t)}>
          <Button onClick={() => void list.refetch()}>{t('try_again')}</Button>
        </Empty>
      </Card>
    );
  }
  const { rows, arrived } = withNewest(
    list.data.pages.flatMap(({ data }) => data),
    newest.data?.data ?? [],
    further,
  );
  return (
    <Card flush>
      {arrived === 0 || rows.length === 0 ? null : (
        <div className={split.arrived} role="status">
          <Button small icon="refresh" onClick={() => void Promise.all([list.refetch(), newest.refetch()])}>
            {t('new_payments', { count: arrived })}
          </Button>
        </div>
      )}
      {rows.length === 0 ? (
        noMatch === null ? (
          <Empty {...empty} />
        ) : (
          <Empty icon="filter" title={t('no_matches_title')} text={noMatch} />
        )
      ) : (
        <>
          {children(rows)}
          <ListFoot list={list} more={t('show_more')} end={t('list_end')} />
        </>
      )}
    </Card>
  );
}
