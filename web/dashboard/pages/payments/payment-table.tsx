import { Link } from '@tanstack/react-router';
import { useChoiceKey, type Selection } from '../selection/use-selection.ts';
import choiceCss from '../selection/choice.module.css';
import { useRef, type MouseEvent, type ReactNode, type RefObject } from 'react';
import type { PaymentRow } from '../../../../src/http/dashboard/payments/contract.ts';
import { useLocale } from '../../locale.tsx';
import { classNames } from '../../ui/class-names.ts';
import { Coin, Ago, Status } from '../../ui/value.tsx';
import { isWide, useRowKeys, type PanelFocus } from '../../ui/keys.ts';
import { LIST_COLUMNS, USUAL_LIST_COLUMNS, type ListColumn } from './columns.ts';
import { networkName } from '../../formats.ts';
import css from './payment-table.module.css';
import { useScope } from '../../scope.ts';

/** Draws a column that is not a default one. */
type ExtraCell = (column: ListColumn, payment: PaymentRow) => ReactNode;

interface PaymentTableProps {
  readonly label: string;
  readonly payments: readonly PaymentRow[];
  /** The default columns if absent; small screens show fewer of those. */
  readonly columns?: readonly ListColumn[];
  /** Draws the columns that are not default ones. */
  readonly extra?: ExtraCell;
  /** The payment in the panel beside the table. */
  readonly shown?: string | undefined;
  /** Rows that can be chosen together, by a checkbox before each. */
  readonly selection?: Selection;
  /** Opens a payment in the panel. Without it, rows are links to the payments' pages. */
  readonly onShow?: PanelFocus['open'];
}

/** A table of payments. Small screens leave out columns, unless they were chosen. */
export function PaymentTable(props: PaymentTableProps) {
  const { label, payments, columns = USUAL_LIST_COLUMNS, extra, selection, shown, onShow } = props;
  const { t } = useLocale();
  const frame = useRef<HTMLDivElement>(null);
  useRowKeys(frame, (id) => {
    if (shown !== undefined) onShow?.(id);
  });
  useChoiceKey(frame, selection);
  const isUsual = columns.join() === USUAL_LIST_COLUMNS.join();
  return (
    <div className={classNames(css.frame, isUsual ? css.fits : css.scrolls)} ref={frame}>
      <table className={classNames(css.table, selection !== undefined && choiceCss.choosable)} aria-label={label}>
        <thead>
          <tr>
            {selection === undefined ? null : <ChooseAll ids={payments.map(({ id }) => id)} selection={selection} />}
            {columns.map((column) => (
              <th key={column} className={classOf(column)}>
                {t(LIST_COLUMNS[column])}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {payments.map((payment) => (
            <Row key={payment.id} {...{ payment, columns, extra, selection, onShow }} isShown={payment.id === shown} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The class of a column, by which screens show it. */
function classOf(column: ListColumn): string {
  switch (column) {
    case 'amount':
    case 'created':
    case 'received':
    case 'completed':
    case 'expires':
      return classNames(css.number);
    case 'order':
      return classNames(css.order, css.cut);
    case 'customer':
      return classNames(css.fromMedium, css.cut);
    case 'paid_in':
      return classNames(css.fromWide);
    case 'description':
    case 'id':
      return classNames(css.cut);
    default:
      return '';
  }
}

interface RowProps {
  readonly payment: PaymentRow;
  readonly columns: readonly ListColumn[];
  readonly extra: ExtraCell | undefined;
  readonly selection: Selection | undefined;
  readonly isShown: boolean;
  readonly onShow: PanelFocus['open'] | undefined;
}

function Row({ payment, columns, extra, selection, isShown, onShow }: RowProps) {
  const { t } = useLocale();
  const link = useRef<HTMLAnchorElement>(null);
  const click = (event: MouseEvent): void => {
    const target = event.target instanceof Element ? event.target : null;
    const isOnLink = target?.closest('a') !== null;
    if (target?.closest('label, input') !== null) return;
    // Not for opening a new tab or selecting text.
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    if (String(getSelection()) !== '') return;
    // Without room for the panel, the payment's page opens.
    if (onShow === undefined || !isWide()) {
      if (!isOnLink) link.current?.click();
      return;
    }
    event.preventDefault();
    onShow(payment.id, event);
  };
  return (
    <tr className={classNames(isShown && css.shown)} aria-current={isShown} onClickCapture={click}>
      {selection === undefined ? null : (
        <td className={choiceCss.choice}>
          <label>
            <input
              type="checkbox"
              aria-label={t('select_row', { name: nameOf(payment) })}
              checked={selection.chosen.has(payment.id)}
              onChange={({ currentTarget }) => selection.choose([payment.id], currentTarget.checked)}
            />
          </label>
        </td>
      )}
      {columns.map((column) => (
        <td key={column} className={classOf(column)}>
          {column === 'amount' ? (
            <Amount payment={payment} link={link} />
          ) : (
            <Cell column={column} payment={payment} extra={extra} />
          )}
        </td>
      ))}
    </tr>
  );
}

interface ChooseAllProps {
  readonly ids: readonly string[];
  readonly selection: Selection;
}

/** The checkbox above all rows; half checked if some of them are chosen. */
function ChooseAll({ ids, selection: { chosen, choose } }: ChooseAllProps) {
  const { t } = useLocale();
  const count = ids.filter((id) => chosen.has(id)).length;
  return (
    <th className={choiceCss.choice}>
      <label>
        <input
          type="checkbox"
          aria-label={t('select_shown')}
          checked={count > 0 && count === ids.length}
          ref={(input) => {
            if (input !== null) input.indeterminate = count > 0 && count < ids.length;
          }}
          onChange={() => choose(ids, count < ids.length)}
        />
      </label>
    </th>
  );
}

/** The name by which people know a payment. */
function nameOf({ order_id, transaction_number, id }: PaymentRow): string {
  return order_id ?? transaction_number ?? id;
}

interface AmountProps {
  readonly payment: PaymentRow;
  readonly link: RefObject<HTMLAnchorElement | null>;
}

function Amount({ payment, link }: AmountProps) {
  const { fiat } = useLocale();
  const scope = useScope();
  const { id, crypto } = payment;
  return (
    <>
      <Link
        ref={link}
        className={css.amount ?? ''}
        to="/projects/$project/$mode/payments/$payment"
        params={{ ...scope, payment: id }}
        data-row={id}
      >
        {fiat(payment.amount, payment.currency)}
        <span className="unseen"> {nameOf(payment)}</span>
      </Link>
      {crypto === null ? null : (
        <small>
          <Coin amount={crypto.owed} asset={crypto.asset} />
        </small>
      )}
    </>
  );
}

interface CellProps {
  readonly payment: PaymentRow;
  readonly column: Exclude<ListColumn, 'amount'>;
  readonly extra: ExtraCell | undefined;
}

function Cell({ payment, column, extra }: CellProps) {
  const name = nameOf(payment);
  const { crypto, transaction_number: number } = payment;
  switch (column) {
    case 'status':
      return (
        <>
          <Status status={payment.status} exception={payment.exception} />
          <small className={css.phone}>{name}</small>
        </>
      );
    case 'order':
      return (
        <>
          {name}
          {number === null || name === number ? null : <small>{number}</small>}
        </>
      );
    case 'customer':
      return payment.customer_email ?? <None />;
    case 'paid_in':
      return crypto === null ? <None /> : `${crypto.asset} · ${networkName(crypto.network)}`;
    case 'created':
      return <Ago iso={payment.created_at} />;
    default:
      return extra?.(column, payment);
  }
}

/** Shown if a payment has no value. */
export function None() {
  return <span className={css.none}>–</span>;
}
