import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { PaymentView } from '../../../../src/http/dashboard/contract/payments.ts';
import { ApiFault } from '../../api.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { ConfirmDialog } from '../../ui/action-dialog.tsx';
import { Button } from '../../ui/button.tsx';
import css from './payment-parts.module.css';
import { paymentQuery, putPayment } from './queries.ts';

type Simulation = PaymentView['can']['simulate'][number];
/** An action with a confirmation dialog. */
type Asked = 'complete' | 'cancel' | 'accept' | 'simulate';

/** Buttons for the payment's possible actions, each with a dialog that says what it does. */
export function PaymentActions({ payment }: { readonly payment: PaymentView }) {
  const { t } = useLocale();
  const [asked, ask] = useState<Asked | null>(null);
  const { can } = payment;
  if (!can.complete && !can.cancel && !can.accept && can.simulate.length === 0) return null;
  return (
    <div className={css.actions}>
      {can.complete ? (
        <Button kind="primary" onClick={() => ask('complete')}>
          {t('complete_payment')}
        </Button>
      ) : null}
      {can.accept ? (
        <Button kind={can.complete ? 'plain' : 'primary'} onClick={() => ask('accept')}>
          {t('accept_payment')}
        </Button>
      ) : null}
      {can.simulate.length > 0 ? <Button onClick={() => ask('simulate')}>{t('simulate')}</Button> : null}
      {can.cancel ? <Button onClick={() => ask('cancel')}>{t('cancel_payment')}</Button> : null}
      {asked === null ? null : <Question payment={payment} asked={asked} onClose={() => ask(null)} />}
    </div>
  );
}

interface QuestionProps {
  readonly payment: PaymentView;
  readonly asked: Asked;
  readonly onClose: () => void;
}

function Question({ payment, asked, onClose }: QuestionProps) {
  const { t } = useLocale();
  const [outcome, choose] = useState<Simulation | undefined>(payment.can.simulate[0]);
  const change = useChange(payment, asked, outcome, onClose);
  return (
    <ConfirmDialog
      name={t(NAMES[asked])}
      text={t(CONSEQUENCES[asked][payment.mode])}
      isDangerous={asked === 'cancel'}
      action={change}
      onClose={onClose}
    >
      {asked === 'simulate' ? (
        <fieldset className={css.choices}>
          <legend className="unseen">{t('outcome')}</legend>
          {payment.can.simulate.map((one) => (
            <label key={one}>
              <input type="radio" name="outcome" checked={one === outcome} onChange={() => choose(one)} />
              <span>{t(`simulate_${one}`)}</span>
              <small>{t(`simulate_${one}_text`)}</small>
            </label>
          ))}
        </fieldset>
      ) : null}
    </ConfirmDialog>
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

function useChange(payment: PaymentView, asked: Asked, outcome: Simulation | undefined, onDone: () => void) {
  const { t } = useLocale();
  const dashboard = useDashboard();
  const scope = useScope();
  const { api, queries, toast } = dashboard;
  const params = { ...scope, payment: payment.id };
  return useMutation({
    mutationFn: () => {
      if (asked !== 'simulate') return api(`POST ${PATH}/${asked}`, { params });
      return api(`POST ${PATH}/simulate`, { params, body: { outcome: outcome ?? 'paid' } });
    },
    onSuccess: ({ payment: fresh, consequences: { events, deliveries } }) => {
      putPayment(dashboard, scope, fresh);
      const sent = deliveries === 0 ? '' : ` ${t('events_sent', { events: events.join(', '), count: deliveries })}`;
      toast(t(`done_${asked}`) + sent);
      onDone();
    },
    onError: (error) => {
      // The payment has changed, and with it the possible actions.
      if (error instanceof ApiFault && error.status < 500) {
        void queries.invalidateQueries({ queryKey: paymentQuery(api, scope, payment.id).queryKey });
      }
    },
  });
}
