import { useRef, type MouseEvent, type ReactNode } from 'react';
import { classNames } from '../../ui/class-names.ts';
import { useRowKeys } from '../../ui/row-keys.ts';
import table from '../payments/payment-table.module.css';
import css from './log.module.css';

export interface LogColumn<Row> {
  readonly key: string;
  readonly title: string;
  /** Small screens leave out columns: `wide` ones first, then `medium` ones. */
  readonly from?: 'wide' | 'medium';
  readonly isNumber?: boolean;
  readonly cell: (row: Row) => ReactNode;
}

interface LogTableProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  /** The first one names the row and opens it. */
  readonly columns: readonly LogColumn<Row>[];
  readonly shown: string | undefined;
  readonly onShow: (id: string) => void;
}

/** A table whose rows open in a panel. */
export function LogTable<Row extends { readonly id: string }>(props: LogTableProps<Row>) {
  const { label, rows, columns, shown, onShow } = props;
  const frame = useRef<HTMLDivElement>(null);
  useRowKeys(frame, (id) => {
    if (shown !== undefined) onShow(id);
  });
  const click = (id: string) => (event: MouseEvent) => {
    const isOnLink = event.target instanceof Element && event.target.closest('a, button') !== null;
    if (!isOnLink && String(getSelection()) === '') onShow(id);
  };
  return (
    <div className={classNames(table.frame, table.fits)} ref={frame}>
      <table className={table.table} aria-label={label}>
        <thead>
          <tr>
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
              className={classNames(row.id === shown && table.shown)}
              aria-current={row.id === shown}
              onClick={click(row.id)}
            >
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

function classOf(from: LogColumn<unknown>['from'], isNumber: boolean): string {
  return classNames(
    isNumber && table.number,
    from === 'wide' && table.optional,
    from === 'medium' && classNames(table.customer, table.cut),
  );
}
