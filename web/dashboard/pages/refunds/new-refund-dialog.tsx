import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { PaymentRow } from '../../../../src/http/dashboard/payments/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { SearchField } from '../../ui/field.tsx';
import { NotLoaded } from '../../ui/placeholder.tsx';
import { Status } from '../../ui/value.tsx';
import { paymentQuery, refundsKey, searchQuery } from '../payments/queries.ts';
import { RefundDialog } from '../payments/refund/refund-dialog.tsx';
import parts from '../payments/payment/payment-parts.module.css';
import css from './refunds.module.css';
import { useScope } from '../../scope.ts';

interface NewRefundDialogProps {
  /** Called with the id of the new refund. */
  readonly onDone: (refund: string) => void;
  readonly onClose: () => void;
}

/** Finds a payment, and refunds it. */
export function NewRefundDialog({ onDone, onClose }: NewRefundDialogProps) {
  const [chosen, choose] = useState<string | null>(null);
  if (chosen === null) return <Find onChoose={choose} onClose={onClose} />;
  return <Refund id={chosen} onDone={onDone} onBack={() => choose(null)} onClose={onClose} />;
}

/** The same over any page; shows the new refund on the page of refunds. */
export function NewRefundAnywhere({ onClose }: Pick<NewRefundDialogProps, 'onClose'>) {
  const { queries, unsaved } = useDashboard();
  const scope = useScope();
  const navigate = useNavigate();
  const show = (refund: string): void => {
    unsaved.set(0);
    onClose();
    void queries.invalidateQueries({ queryKey: refundsKey(scope) });
    void navigate({ to: '/projects/$project/$mode/refunds', params: scope, search: { show: refund } });
  };
  return <NewRefundDialog onDone={show} onClose={onClose} />;
}

interface FindProps {
  readonly onChoose: (payment: string) => void;
  readonly onClose: () => void;
}

function Find({ onChoose, onClose }: FindProps) {
  const { t } = useLocale('refunds');
  const scope = useScope();
  const [text, setText] = useState('');
  const search = useQuery({ ...searchQuery(scope, text), enabled: text !== '' });
  // A payment of the other mode is found too, but cannot be refunded here.
  const payments = search.data?.mode === scope.mode ? search.data.data.map(({ payment }) => payment) : [];
  return (
    <Dialog title={t('new_refund')} description={t('refund_find_text')} onClose={onClose}>
      <SearchField label={t('search_payments')} text={text} onText={(typed) => setText(typed ?? '')} />
      {text === '' ? null : search.data === undefined ? (
        <NotLoaded query={search} rows={2} />
      ) : payments.length === 0 ? (
        <Notice>{t('refund_find_none')}</Notice>
      ) : (
        <ul className={css.found} aria-label={t('payments')}>
          {payments.map((payment) => (
            <li key={payment.id}>
              <Found payment={payment} onChoose={onChoose} />
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}

function Found({ payment, onChoose }: { readonly payment: PaymentRow; readonly onChoose: (id: string) => void }) {
  const { fiat } = useLocale();
  const { id, order_id: order, transaction_number: number, amount, currency, status, exception } = payment;
  return (
    <button type="button" onClick={() => onChoose(id)}>
      <span>
        <b>{fiat(amount, currency)}</b> <span className={css.soft}>{order ?? number ?? id}</span>
      </span>
      <Status status={status} exception={exception} />
    </button>
  );
}

interface RefundProps {
  readonly id: string;
  readonly onDone: (refund: string) => void;
  readonly onBack: () => void;
  readonly onClose: () => void;
}

function Refund({ id, onDone, onBack, onClose }: RefundProps) {
  const { t } = useLocale('refunds', 'detail', 'list');
  const found = useQuery(paymentQuery(useScope(), id));
  const { data: payment } = found;
  // The dialog stays when everything is refunded, and says so.
  const [wasOpen, setOpen] = useState(false);
  if (payment !== undefined && (payment.can.refund !== 'none' || wasOpen)) {
    if (!wasOpen) setOpen(true);
    return <RefundDialog payment={payment} onClose={onClose} onDone={({ id: refund }) => onDone(refund)} />;
  }
  return (
    <Dialog title={t('new_refund')} onClose={onClose}>
      {payment === undefined ? (
        <NotLoaded query={found} rows={4} />
      ) : (
        <Notice kind="warning">{t('refund_not_possible')}</Notice>
      )}
      <div className={parts.end}>
        <Button onClick={onBack}>{t('back')}</Button>
      </div>
    </Dialog>
  );
}
