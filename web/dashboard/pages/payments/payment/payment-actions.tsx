import { lazy, Suspense, useState } from 'react';
import type { PaymentView } from '../../../../../src/http/dashboard/payments/contract.ts';
import { useLocale } from '../../../locale.tsx';
import { ConfirmDialog } from '../../../ui/action-dialog.tsx';
import { Button } from '../../../ui/button.tsx';
import { Choices } from '../../../ui/choices.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { GoneDialog, useChanged, usePaymentChange } from '../refund/changed.tsx';
import { AdvanceDialog } from './advance-dialog.tsx';
import css from './payment-parts.module.css';
import { isSome } from '../refund/refund-size.ts';

const SignDialog = lazy(async () => ({ default: (await import('../../refunds/sign/sign-dialog.tsx')).SignDialog }));
const RefundDialog = lazy(async () => ({ default: (await import('../refund/refund-dialog.tsx')).RefundDialog }));

type Simulation = PaymentView['can']['simulate'][number];
/** An action with a confirmation dialog. */
type Asked = 'complete' | 'cancel' | 'accept' | 'simulate';
export type PaymentAction = Asked | 'refund' | 'advance';

/** Buttons for the payment's possible actions, each with a dialog that explains it. */
export function PaymentActions({ payment }: { readonly payment: PaymentView }) {
  const { t } = useLocale('detail');
  const [open, setOpen] = useState<PaymentAction | null>(null);
  const { can } = payment;
  return (
    <>
      {canAnything(can) ? (
        <div className={css.actions}>
          {can.complete ? (
            <Button kind="primary" onClick={() => setOpen('complete')}>
              {t('complete_payment')}
            </Button>
          ) : null}
          {can.accept ? (
            <Button kind={can.complete ? 'plain' : 'primary'} onClick={() => setOpen('accept')}>
              {t('accept_payment')}
            </Button>
          ) : null}
          {can.refund === 'none' ? null : <Button onClick={() => setOpen('refund')}>{t('refund')}</Button>}
          {can.simulate.length > 0 ? <Button onClick={() => setOpen('simulate')}>{t('simulate')}</Button> : null}
          {can.advance ? <Button onClick={() => setOpen('advance')}>{t('advance')}</Button> : null}
          {can.cancel ? <Button onClick={() => setOpen('cancel')}>{t('cancel_payment')}</Button> : null}
        </div>
      ) : null}
      {open === null ? null : <PaymentActionDialog payment={payment} action={open} onClose={() => setOpen(null)} />}
    </>
  );
}

interface PaymentActionDialogProps {
  readonly payment: PaymentView;
  readonly action: PaymentAction;
  readonly onClose: () => void;
}

/** The dialog of an action; after a refund that waits for a signature, the dialog that signs it. */
export function PaymentActionDialog({ payment, action, onClose }: PaymentActionDialogProps) {
  const { t } = useLocale('detail');
  const [unsigned, sign] = useState<string | null>(null);
  return (
    <Suspense>
      {unsigned !== null ? (
        <SignDialog refunds={[{ id: unsigned }]} onClose={onClose} />
      ) : action === 'refund' ? (
        <RefundDialog
          payment={payment}
          onClose={onClose}
          onDone={({ id, can: { sign: canSign } }) => (canSign ? sign(id) : onClose())}
        />
      ) : action === 'advance' ? (
        payment.can.advance ? (
          <AdvanceDialog payment={payment} onClose={onClose} />
        ) : (
          <GoneDialog name={t('advance')} onClose={onClose} />
        )
      ) : isPossible(payment.can, action) ? (
        <Question payment={payment} asked={action} onClose={onClose} />
      ) : (
        <GoneDialog name={t(NAMES[action])} onClose={onClose} />
      )}
    </Suspense>
  );
}

function canAnything({ complete, accept, cancel, refund, simulate, advance }: PaymentView['can']): boolean {
  return complete || accept || cancel || refund !== 'none' || advance || simulate.length > 0;
}

function isPossible(can: PaymentView['can'], asked: Asked): boolean {
  return asked === 'simulate' ? can.simulate.length > 0 : can[asked];
}

interface QuestionProps {
  readonly payment: PaymentView;
  readonly asked: Asked;
  readonly onClose: () => void;
}

function Question({ payment, asked, onClose }: QuestionProps) {
  const { t } = useLocale('detail');
  const [outcome, choose] = useState<Simulation | undefined>(payment.can.simulate[0]);
  const isChanged = useChanged(JSON.stringify([payment.status, payment.money]));
  const change = useAction(payment, asked, outcome, onClose);
  return (
    <ConfirmDialog
      name={t(NAMES[asked])}
      text={t(CONSEQUENCES[asked][payment.mode])}
      isDangerous={asked === 'cancel'}
      {...(asked === 'cancel' && { cancel: t('back') })}
      action={change}
      onClose={onClose}
    >
      {isChanged ? <Notice kind="warning">{t('changed_meanwhile')}</Notice> : null}
      {asked === 'accept' ? <Accepted payment={payment} /> : null}
      {asked === 'simulate' ? (
        <Choices
          label={t('outcome')}
          isLabelHidden
          value={outcome}
          options={payment.can.simulate.map((one) => ({
            value: one,
            text: t(`simulate_${one}`),
            detail: t(`simulate_${one}_text`),
          }))}
          onValue={choose}
        />
      ) : null}
    </ConfirmDialog>
  );
}

/** The amount accepted as full payment, and the amount given up. */
function Accepted({ payment: { money } }: { readonly payment: PaymentView }) {
  const { t, coin } = useLocale('detail');
  if (money === null) return null;
  const { asset, confirmed, expected, missing, refunded } = money;
  return (
    <ul className={css.lines}>
      <li>{t('accept_facts', { confirmed: coin(confirmed, asset), expected: coin(expected, asset) })}</li>
      {isSome(refunded) ? <li>{t('accept_refunded', { amount: coin(refunded, asset) })}</li> : null}
      {isSome(missing) ? <li>{t('accept_missing', { amount: coin(missing, asset) })}</li> : null}
    </ul>
  );
}

const NAMES = {
  complete: 'complete_payment',
  cancel: 'cancel_payment',
  accept: 'accept_payment',
  simulate: 'simulate',
} as const;

const CONSEQUENCES = {
  complete: { test: 'complete_text', live: 'complete_text' },
  cancel: { test: 'cancel_test_text', live: 'cancel_live_text' },
  accept: { test: 'accept_test_text', live: 'accept_live_text' },
  simulate: { test: 'simulate_text', live: 'simulate_text' },
} as const;

const PATH = '/dashboard/api/projects/:project/:mode/payments/:payment';

function useAction(payment: PaymentView, asked: Asked, outcome: Simulation | undefined, onDone: () => void) {
  const { t } = useLocale('detail');
  const { money } = payment;
  return usePaymentChange(payment.id, {
    send: (api, params) => {
      switch (asked) {
        case 'simulate':
          return api(`POST ${PATH}/simulate`, { params, body: { outcome: outcome ?? 'paid' } });
        case 'accept': {
          const shown = money === null ? null : { confirmed: money.confirmed, refunded: money.refunded };
          return api(`POST ${PATH}/accept`, { params, body: shown === null ? {} : { shown } });
        }
        case 'complete':
        case 'cancel':
          return api(`POST ${PATH}/${asked}`, { params });
      }
    },
    done: ({ consequences: { events, deliveries } }) => {
      const sent = deliveries === 0 ? '' : ` ${t('events_sent', { events: events.join(', '), count: deliveries })}`;
      return t(`done_${asked}`) + sent;
    },
    onDone,
  });
}
