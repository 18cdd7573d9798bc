import type { InfiniteData, UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { IconName } from '../../ui/icons.tsx';
import { LogList } from './log-list.tsx';
import { LogSplit } from './log-split.tsx';
import { LogTable, type LogChoice, type LogColumn } from './log-table.tsx';
import type { LogPage } from './use-log.ts';

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
