import { useRef, type MouseEvent, type ReactNode } from 'react';
import { classNames } from '../../ui/class-names.ts';
import { useRowKeys } from '../../ui/row-keys.ts';
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

interface LogTableProps<Row> {
  readonly rows: readonly Row[];
  readonly shown: string | undefined;
  readonly onShow: (id: string) => void;
  readonly label: string;
  /** The first one names the row and opens it. */
  readonly columns: readonly LogColumn<Row>[];
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
    <div className={classNames(tableCss.frame, tableCss.fits)} ref={frame}>
      <table className={tableCss.table} aria-label={label}>
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
              className={classNames(row.id === shown && tableCss.shown)}
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
    isNumber && tableCss.number,
    from === 'wide' && tableCss.optional,
    from === 'medium' && classNames(tableCss.customer, tableCss.cut),
  );
}
