import type { InfiniteData, UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query';
import { useEffect, type ReactNode, useRef, type MouseEvent } from 'react';
import { useLocale } from '../../locale.tsx';
import { Card } from '../../ui/card.tsx';
import { classNames } from '../../ui/class-names.ts';
import type { IconName } from '../../ui/icons.tsx';
import { Empty, Loaded } from '../../ui/placeholder.tsx';
import { ListFoot } from '../payments/list-foot.tsx';
import css from './log.module.css';
import { Arrived } from './arrived.tsx';
import { withNewest } from './use-log.ts';
import { usePanelFocus, useRowKeys, type PanelFocus } from '../../ui/keys.ts';
import choiceCss from '../selection/choice.module.css';
import tableCss from '../payments/payment-table.module.css';

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
  readonly noteOf?: NoteOf<Row>;
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
  const { open, close } = usePanelFocus(shown, onShow);
  return (
    <div className={classNames(css.split, shown !== undefined && css.withPanel)}>
      <div>
        <Card flush>
          <Loaded query={list} rows={8}>
            {({ pages }) => <LogList {...log} onOpen={open} rows={pages.flatMap(({ data }) => data)} />}
          </Loaded>
        </Card>
      </div>
      {shown === undefined ? null : panel(shown, close)}
    </div>
  );
}

/** The rows of a log. The shown ones stay up to date; new ones appear on a click, so that none moves away. */
function LogList<Row extends { readonly id: string }>(
  props: LogListProps<Row> & { readonly rows: readonly Row[]; readonly onOpen: PanelFocus['open'] },
) {
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
      <Arrived
        count={arrived}
        text={t('new_payments', { count: arrived })}
        onShow={() => void Promise.all([list.refetch(), newest.refetch()])}
      />
      <LogTable {...table} rows={rows} />
      <ListFoot list={list} more={t('show_more')} end={t('list_end')} />
    </>
  );
}

export interface LogColumn<Row> {
  readonly key: string;
  readonly title: string;
  /** Small screens leave out columns: `wide` ones first, then `medium` ones; phones also `small` ones. */
  readonly from?: 'wide' | 'medium' | 'small';
  readonly isNumber?: boolean;
  readonly cell: (row: Row) => ReactNode;
}

/** Rows that can be chosen together, by a checkbox before each. */
export interface LogChoice<Row> {
  readonly title: string;
  /** The name of a row's checkbox; null if it cannot be chosen. */
  readonly labelOf: (row: Row) => string | null;
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (row: Row, isChosen: boolean) => void;
}

/** A text in place of a row's cells; null for a usual row. Such a row does not open. */
type NoteOf<Row> = (row: Row) => ReactNode;

interface LogTableProps<Row> {
  readonly rows: readonly Row[];
  readonly shown: string | undefined;
  readonly onOpen: PanelFocus['open'];
  readonly label: string;
  /** The first one names the row and opens it. */
  readonly columns: readonly LogColumn<Row>[];
  readonly choice?: LogChoice<Row> | null;
  readonly noteOf?: NoteOf<Row>;
}

/** A table whose rows open in a panel. */
export function LogTable<Row extends { readonly id: string }>(props: LogTableProps<Row>) {
  const { label, rows, columns, shown, onOpen, choice = null, noteOf = () => null } = props;
  const frame = useRef<HTMLDivElement>(null);
  useRowKeys(frame, (id) => {
    if (shown !== undefined) onOpen(id);
  });
  return (
    <div className={classNames(tableCss.frame, tableCss.fits)} ref={frame}>
      <table className={classNames(tableCss.table, choice !== null && choiceCss.choosable)} aria-label={label}>
        <thead>
          <tr>
            {choice === null ? null : (
              <th className={choiceCss.choice}>
                <span className="unseen">{choice.title}</span>
              </th>
            )}
            {columns.map(({ key, title, from, isNumber = false }) => (
              <th key={key} className={classOf(from, isNumber)}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const note = noteOf(row);
            return note === null ? (
              <LogRow key={row.id} row={row} columns={columns} choice={choice} shown={shown} onOpen={onOpen} />
            ) : (
              <tr key={row.id} className={tableCss.note}>
                <td colSpan={columns.length}>{note}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

interface LogRowProps<Row> extends Pick<LogTableProps<Row>, 'columns' | 'shown' | 'onOpen'> {
  readonly row: Row;
  readonly choice: LogChoice<Row> | null;
}

function LogRow<Row extends { readonly id: string }>({ row, columns, choice, shown, onOpen }: LogRowProps<Row>) {
  const click = (event: MouseEvent): void => {
    const isOnLink = event.target instanceof Element && event.target.closest('a, button, label') !== null;
    if (!isOnLink && String(getSelection()) === '') onOpen(row.id);
  };
  return (
    <tr className={classNames(row.id === shown && tableCss.shown)} aria-current={row.id === shown} onClick={click}>
      {choice === null ? null : <ChoiceCell row={row} choice={choice} />}
      {columns.map(({ key, from, isNumber = false, cell }, index) => (
        <td key={key} className={classOf(from, isNumber)}>
          {index === 0 ? (
            <button
              type="button"
              className={css.rowButton}
              data-row={row.id}
              onClick={(event) => onOpen(row.id, event)}
            >
              {cell(row)}
            </button>
          ) : (
            cell(row)
          )}
        </td>
      ))}
    </tr>
  );
}

interface ChoiceCellProps<Row> {
  readonly row: Row;
  readonly choice: LogChoice<Row>;
}

function ChoiceCell<Row extends { readonly id: string }>({ row, choice }: ChoiceCellProps<Row>) {
  const { labelOf, chosen, onChoose } = choice;
  const label = labelOf(row);
  return (
    <td className={choiceCss.choice}>
      {label === null ? null : (
        <label>
          <input
            type="checkbox"
            aria-label={label}
            checked={chosen.has(row.id)}
            onChange={({ currentTarget }) => onChoose(row, currentTarget.checked)}
          />
        </label>
      )}
    </td>
  );
}

function classOf(from: LogColumn<unknown>['from'], isNumber: boolean): string {
  return classNames(
    isNumber && tableCss.number,
    from === 'wide' && classNames(tableCss.fromWide, tableCss.cut),
    from === 'medium' && classNames(tableCss.fromMedium, tableCss.cut),
    from === 'small' && tableCss.fromSmall,
  );
}
