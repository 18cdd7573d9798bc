import { useRef, type MouseEvent, type ReactNode } from 'react';
import { classNames } from '../../ui/class-names.ts';
import { useRowKeys } from '../../ui/keys.ts';
import tableCss from '../payments/payment-table.module.css';
import css from './log.module.css';

export interface LogColumn<Row> {
  readonly key: string;
  readonly title: string;
  /** Small screens leave out columns: `wide` ones first, then `medium` ones. */
  readonly from?: 'wide' | 'medium';
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

interface LogTableProps<Row> {
  readonly rows: readonly Row[];
  readonly shown: string | undefined;
  readonly onShow: (id: string) => void;
  readonly label: string;
  /** The first one names the row and opens it. */
  readonly columns: readonly LogColumn<Row>[];
  readonly choice?: LogChoice<Row> | null;
}

/** A table whose rows open in a panel. */
export function LogTable<Row extends { readonly id: string }>(props: LogTableProps<Row>) {
  const { label, rows, columns, shown, onShow, choice = null } = props;
  const frame = useRef<HTMLDivElement>(null);
  useRowKeys(frame, (id) => {
    if (shown !== undefined) onShow(id);
  });
  const click = (id: string) => (event: MouseEvent) => {
    const isOnLink = event.target instanceof Element && event.target.closest('a, button, label') !== null;
    if (!isOnLink && String(getSelection()) === '') onShow(id);
  };
  return (
    <div className={classNames(tableCss.frame, tableCss.fits)} ref={frame}>
      <table className={tableCss.table} aria-label={label}>
        <thead>
          <tr>
            {choice === null ? null : (
              <th className={css.choice}>
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
          {rows.map((row) => (
            <tr
              key={row.id}
              className={classNames(row.id === shown && tableCss.shown)}
              aria-current={row.id === shown}
              onClick={click(row.id)}
            >
              {choice === null ? null : <ChoiceCell row={row} choice={choice} />}
              {columns.map(({ key, from, isNumber = false, cell }, index) => (
                <td key={key} className={classOf(from, isNumber)}>
                  {index === 0 ? (
                    <button type="button" className={css.rowButton} data-row={row.id} onClick={() => onShow(row.id)}>
                      {cell(row)}
                    </button>
                  ) : (
                    cell(row)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
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
    <td className={css.choice}>
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
    from === 'wide' && classNames(tableCss.optional, tableCss.cut),
    from === 'medium' && classNames(tableCss.customer, tableCss.cut),
  );
}
