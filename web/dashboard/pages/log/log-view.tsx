import type { InfiniteData, UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import type { IconName } from '../../ui/icons.tsx';
import css from './log.module.css';
import { classNames } from '../../ui/class-names.ts';
import { LogTable, type LogChoice, type LogColumn } from './log-table.tsx';
import type { LogPage } from './use-log.ts';
import { withNewest } from './with-newest.ts';
import { useLocale } from '../../locale.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Empty, NotLoaded } from '../../ui/placeholder.tsx';
import { ListFoot } from '../payments/list-foot.tsx';
import split from '../payments/payments-page.module.css';

interface LogViewProps<Row> {
  readonly label: string;
  readonly list: UseInfiniteQueryResult<InfiniteData<LogPage<Row>>>;
  readonly newest: UseQueryResult<LogPage<Row>>;
  readonly further: readonly Row[];
  readonly columns: readonly LogColumn<Row>[];
  readonly choice?: LogChoice<Row>;
  /** Instead of an empty list. */
  readonly empty: { readonly icon: IconName; readonly title: string; readonly text: string };
  /** Instead of a list that filters left empty; null without a filter. */
  readonly noMatch: string | null;
  /** The row in the panel. */
  readonly shown: string | undefined;
  /** Undefined closes the panel. */
  readonly onShow: (id: string | undefined) => void;
  readonly panel: (id: string, onClose: () => void) => ReactNode;
}

/** A log: its table, and the panel of the chosen row. */
export function LogView<Row extends { readonly id: string }>(props: LogViewProps<Row>) {
  const { label, list, newest, further, columns, choice, empty, noMatch, shown, onShow, panel } = props;
  return (
    <LogSplit panel={shown === undefined ? null : panel(shown, () => onShow(undefined))}>
      <LogList list={list} newest={newest} further={further} empty={empty} noMatch={noMatch}>
        {(rows) => (
          <LogTable label={label} rows={rows} columns={columns} choice={choice} shown={shown} onShow={onShow} />
        )}
      </LogList>
    </LogSplit>
  );
}

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
function LogList<Row extends { readonly id: string }>({
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
  if (list.data === undefined) {
    return (
      <Card flush>
        <NotLoaded query={list} rows={8} />
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

interface LogSplitProps {
  /** Beside the list; where there is no room, in its place. */
  readonly panel: ReactNode | null;
  readonly children: ReactNode;
}

/** A list and the panel of its chosen row. */
function LogSplit({ panel, children }: LogSplitProps) {
  return (
    <div className={classNames(css.split, panel !== null && css.withPanel)}>
      <div>{children}</div>
      {panel}
    </div>
  );
}
