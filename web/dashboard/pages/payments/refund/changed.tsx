import { useState } from 'react';
import type { PaymentView } from '../../../../../src/http/dashboard/payments/contract.ts';
import type { Api } from '../../../api.ts';
import { useChange, type Change } from '../../../change.ts';
import { putPayment, refreshOnRefusal } from '../queries.ts';
import { accessText } from '../../../session.ts';
import { useDashboard, useStore } from '../../../dashboard.ts';
import { useLocale } from '../../../locale.tsx';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Notice } from '../../../ui/notice.tsx';
import css from '../payment/payment-parts.module.css';
import { useScope, type Scope } from '../../../scope.ts';

interface PaymentChange<Answer, Input> extends Omit<Change<Answer, Input>, 'send' | 'shows'> {
  readonly send: (api: Api, params: Scope & { readonly payment: string }, input: Input) => Promise<Answer>;
}

/** A change of a payment, which everything that has the payment then shows. After a refusal it is read again. */
export function usePaymentChange<Answer extends PaymentView | { readonly payment: PaymentView }, Input = void>(
  payment: string,
  { send, onDone, onRefused, ...change }: PaymentChange<Answer, Input>,
) {
  const dashboard = useDashboard();
  const scope = useScope();
  return useChange<Answer, Input>({
    ...change,
    send: (api, input) => send(api, { ...scope, payment }, input),
    onDone: (answer, input) => {
      putPayment(dashboard, scope, 'payment' in answer ? answer.payment : answer);
      return onDone?.(answer, input);
    },
    onRefused: (error) => {
      refreshOnRefusal(dashboard, scope, payment, error);
      onRefused?.(error);
    },
  });
}

/** Whether the state that a dialog shows has changed since it opened. */
export function useChanged(state: string): boolean {
  const [opened] = useState(state);
  return opened !== state;
}

interface GoneDialogProps {
  readonly name: string;
  readonly onClose: () => void;
}

/** Replaces a dialog whose action became impossible while it was open. */
export function GoneDialog({ name, onClose }: GoneDialogProps) {
  const { t } = useLocale('detail');
  const access = useStore(useDashboard().access);
  return (
    <Dialog title={name} onClose={onClose}>
      <Notice kind="problem">{accessText(access, t) ?? t('changed_gone')}</Notice>
      <div className={css.end}>
        <Button onClick={onClose}>{t('close')}</Button>
      </div>
    </Dialog>
  );
}
