import { Link } from '@tanstack/react-router';
import { useRef, type MouseEvent } from 'react';
import type { PaymentRow } from '../../../../src/http/dashboard/contract/payments.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { classNames } from '../../ui/class-names.ts';
import { Ago } from '../../ui/moment.tsx';
import { useRowKeys } from '../../ui/row-keys.ts';
import { Status } from '../../ui/status.tsx';
import { networkName } from './network-name.ts';
import css from './payment-table.module.css';

interface PaymentTableProps {
  readonly label: string;
  readonly payments: readonly PaymentRow[];
  /** The payment in the panel beside the table. */
  readonly shown?: string | undefined;
  /** Opens a payment in the panel. Without it, rows are links to the payments' pages. */
  readonly onShow?: (id: string) => void;
}

/** A table of payments. Small screens leave out columns. */
export function PaymentTable({ label, payments, shown, onShow }: PaymentTableProps) {
  const { t } = useLocale();
  const frame = useRef<HTMLDivElement>(null);
  useRowKeys(frame, (id) => {
    if (shown !== undefined) onShow?.(id);
  });
  return (
    <div className={css.frame} ref={frame}>
      <table className={css.table} aria-label={label}>
        <thead>
          <tr>
            <th className={css.number}>{t('amount')}</th>
            <th>{t('status')}</th>
            <th className={css.order}>{t('order')}</th>
            <th className={css.customer}>{t('customer')}</th>
            <th className={css.optional}>{t('paid_in')}</th>
            <th className={css.number}>{t('created')}</th>
          </tr>
        </thead>
        <tbody>
          {payments.map((payment) => (
            <Row key={payment.id} payment={payment} isShown={payment.id === shown} onShow={onShow} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  readonly payment: PaymentRow;
  readonly isShown: boolean;
  readonly onShow: ((id: string) => void) | undefined;
}

/** On narrower screens the panel would cover the list, so the payment's page opens instead. */
const WIDE = '(width >= 64rem)';

function Row({ payment, isShown, onShow }: RowProps) {
  const { fiat } = useLocale();
  const scope = useScope();
  const link = useRef<HTMLAnchorElement>(null);
  const { id, crypto, order_id, transaction_number, customer_email } = payment;
  const name = order_id ?? transaction_number ?? id;
  const click = (event: MouseEvent): void => {
    const target = event.target instanceof Element ? event.target : null;
    const isOnLink = target?.closest('a') !== null;
    // Not for Enter, opening a new tab or selecting text.
    if (event.detail === 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    if (String(getSelection()) !== '') return;
    if (onShow === undefined || !matchMedia(WIDE).matches) {
      if (!isOnLink) link.current?.click();
      return;
    }
    event.preventDefault();
    onShow(id);
  };
  return (
    <tr className={classNames(isShown && css.shown)} aria-current={isShown} onClickCapture={click}>
      <td className={css.number}>
        <Link
          ref={link}
          className={css.amount ?? ''}
          to="/projects/$project/$mode/payments/$payment"
          params={{ ...scope, payment: id }}
          data-row={id}
        >
          {fiat(payment.amount, payment.currency)}
          <span className="unseen"> {name}</span>
        </Link>
        {crypto === null ? null : (
          <small>
            {crypto.owed} {crypto.asset}
          </small>
        )}
      </td>
      <td>
        <Status status={payment.status} exception={payment.exception} />
        <small className={css.phone}>{name}</small>
      </td>
      <td className={classNames(css.order, css.cut)}>
        {name}
        {transaction_number === null || name === transaction_number ? null : <small>{transaction_number}</small>}
      </td>
      <td className={classNames(css.customer, css.cut)}>{customer_email ?? <span className={css.none}>–</span>}</td>
      <td className={css.optional}>
        {crypto === null ? <span className={css.none}>–</span> : `${crypto.asset} · ${networkName(crypto.network)}`}
      </td>
      <td className={css.number}>
        <Ago iso={payment.created_at} />
      </td>
    </tr>
  );
}
