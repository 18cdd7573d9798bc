import type { InfiniteData, UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query';
import { useEffect, type ReactNode } from 'react';
import { useLocale } from '../../locale.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { classNames } from '../../ui/class-names.ts';
import type { IconName } from '../../ui/icons.tsx';
import { Empty, Loaded } from '../../ui/placeholder.tsx';
import { ListFoot } from '../payments/list-foot.tsx';
import split from '../payments/payments-page.module.css';
import { LogTable, type LogChoice, type LogColumn } from './log-table.tsx';
import css from './log.module.css';
import { withNewest } from './use-log.ts';

interface LogPage<Row> {
  readonly data: readonly Row[];
}

interface LogListProps<Row> {
  readonly label: string;
  readonly list: UseInfiniteQueryResult<InfiniteData<LogPage<Row>>>;
  /** The present first page, which is requested again when the stream of changes reports news. */
  readonly newest: UseQueryResult<LogPage<Row>>;
  /** The present rows of further pages. */
  readonly further: readonly Row[];
  readonly columns: readonly LogColumn<Row>[];
  readonly choice?: LogChoice<Row> | null;
  /** Shown instead of an empty list. */
  readonly empty: { readonly icon: IconName; readonly title: string; readonly text: string };
  /** Shown instead of a list that filters left empty; null without a filter. */
  readonly noMatch: string | null;
  /** The row in the panel. */
  readonly shown: string | undefined;
  /** Undefined closes the panel. */
  readonly onShow: (id: string | undefined) => void;
}

interface LogViewProps<Row> extends LogListProps<Row> {
  /** Shown beside the list; if there is no room, in its place. */
  readonly panel: (id: string, onClose: () => void) => ReactNode;
}

/** A log: its table, and the panel of the chosen row. */
export function LogView<Row extends { readonly id: string }>({ panel, ...log }: LogViewProps<Row>) {
  const { shown, list, onShow } = log;
  return (
    <div className={classNames(css.split, shown !== undefined && css.withPanel)}>
      <div>
        <Card flush>
          <Loaded query={list} rows={8}>
            {({ pages }) => <LogList {...log} rows={pages.flatMap(({ data }) => data)} />}
          </Loaded>
        </Card>
      </div>
      {shown === undefined ? null : panel(shown, () => onShow(undefined))}
    </div>
  );
}

/** The rows of a log. The shown ones stay up to date; new ones appear on a click, so that none moves away. */
function LogList<Row extends { readonly id: string }>(props: LogListProps<Row> & { readonly rows: readonly Row[] }) {
  const { list, newest, further, empty, noMatch, rows: read, ...table } = props;
  const { t } = useLocale();
  const { rows, arrived } = withNewest(read, newest.data?.data ?? [], further);
  const isFilled = rows.length === 0 && arrived > 0;
  useEffect(() => {
    // An empty list shows new rows at once, because nothing moves.
    if (isFilled) void list.refetch();
  }, [isFilled]);
  if (rows.length === 0) {
    return noMatch === null ? (
      <Empty {...empty} />
    ) : (
      <Empty icon="filter" title={t('no_matches_title')} text={noMatch} />
    );
  }
  return (
    <>
      {arrived === 0 ? null : (
        <div className={split.arrived} role="status">
          <Button small icon="refresh" onClick={() => void Promise.all([list.refetch(), newest.refetch()])}>
            {t('new_payments', { count: arrived })}
          </Button>
        </div>
      )}
      <LogTable {...table} rows={rows} />
      <ListFoot list={list} more={t('show_more')} end={t('list_end')} />
    </>
  );
}
