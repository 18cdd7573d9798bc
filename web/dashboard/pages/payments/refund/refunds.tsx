import { lazy, Suspense, useState } from 'react';
import type { PaymentView } from '../../../../../src/http/dashboard/payments/contract.ts';
import type { RefundView } from '../../../../../src/http/dashboard/refunds/contract.ts';
import { useLocale } from '../../../locale.tsx';
import { Button } from '../../../ui/button.tsx';
import { Coin, CopyButton, Short, Moment } from '../../../ui/value.tsx';
import { GoneDialog, usePaymentChange } from './changed.tsx';
import css from '../payment/payment-parts.module.css';
import { failureText } from './refund-failure.ts';
import { RefundWarnings } from './refund-warnings.tsx';
import { ConfirmDialog } from '../../../ui/action-dialog.tsx';
import { refundsKey } from '../queries.ts';
import { useScope } from '../../../scope.ts';

const SignDialog = lazy(async () => ({ default: (await import('../../refunds/sign/sign-dialog.tsx')).SignDialog }));

/** A payment's refunds, newest first, with the possible actions. */
export function Refunds({ payment }: { readonly payment: PaymentView }) {
  const [open, setOpen] = useState<{ readonly what: 'sign' | 'cancel'; readonly id: string } | null>(null);
  const { t } = useLocale('detail');
  const close = (): void => setOpen(null);
  const refund = payment.refunds.find(({ id }) => id === open?.id);
  return (
    <>
      <RefundWarnings payment={payment} />
      <ul className={css.rows}>
        {payment.refunds.toReversed().map((one) => (
          <Row key={one.id} refund={one} onOpen={(what) => setOpen({ what, id: one.id })} />
        ))}
      </ul>
      {open?.what === 'sign' ? (
        <Suspense>
          <SignDialog refunds={[{ id: open.id }]} onClose={close} />
        </Suspense>
      ) : null}
      {open?.what !== 'cancel' || refund === undefined ? null : refund.can.cancel ? (
        <CancelRefundDialog payment={payment.id} refund={refund.id} onClose={close} />
      ) : (
        <GoneDialog name={t('cancel_refund')} onClose={close} />
      )}
    </>
  );
}

interface RowProps {
  readonly refund: RefundView;
  readonly onOpen: (what: 'sign' | 'cancel') => void;
}

function Row({ refund, onOpen }: RowProps) {
  const { t, fiat } = useLocale('detail');
  const { status, asset, crypto_amount, amount, currency, address, claim_url, reason, failure_reason } = refund;
  return (
    <li>
      <div className={css.rowHead}>
        <span>
          <b>
            <Coin amount={crypto_amount} asset={asset} />
          </b>{' '}
          <span className={css.soft}>{fiat(amount, currency)}</span>
        </span>
        <span>{t(`refund_state_${status}`)}</span>
      </div>
      <small>
        <Moment iso={refund.created_at} />
        {claim_url === null ? null : ` · ${t('refund_waits')}`}
        {failure_reason === null ? null : ` · ${failureText(failure_reason, t)}`}
      </small>
      {reason === null ? null : <small>{reason}</small>}
      <div className={css.rowFoot}>
        <Short text={refund.id} what={t('id')} />
        {address === null ? null : <Short text={address} what={t('address')} />}
        {refund.transaction_hash === null ? null : (
          <Short text={refund.transaction_hash} what={t('hash')} href={refund.explorer_url} />
        )}
      </div>
      {claim_url === null && !refund.can.sign && !refund.can.cancel ? null : (
        <div className={css.rowFoot}>
          {refund.can.sign ? (
            <Button small kind="primary" onClick={() => onOpen('sign')}>
              {t('sign_refund')}
            </Button>
          ) : null}
          {claim_url === null ? null : <CopyButton text={claim_url}>{t('copy_refund_link')}</CopyButton>}
          {refund.can.cancel ? (
            <Button small onClick={() => onOpen('cancel')}>
              {t('cancel_refund')}
            </Button>
          ) : null}
        </div>
      )}
    </li>
  );
}

const CANCEL = 'POST /dashboard/api/projects/:project/:mode/payments/:payment/refunds/:refund/cancel';

interface CancelRefundDialogProps {
  /** Ids in the form of the APIs. */
  readonly payment: string;
  readonly refund: string;
  readonly onClose: () => void;
}

/** Cancels a refund that nothing pays yet. */
export function CancelRefundDialog({ payment, refund, onClose }: CancelRefundDialogProps) {
  const { t } = useLocale('detail');
  const cancel = usePaymentChange(payment, {
    send: (api, params) => api(CANCEL, { params: { ...params, refund } }),
    stale: refundsKey(useScope()),
    done: t('refund_cancelled'),
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      isDangerous
      name={t('cancel_refund')}
      cancel={t('back')}
      text={t('cancel_refund_text')}
      onClose={onClose}
      action={cancel}
    />
  );
}
