import { lazy, Suspense, useState, type ReactNode } from 'react';
import { useLocale } from '../../locale.tsx';
import { useActions } from '../../session.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/placeholder.tsx';
import { useScope } from '../../scope.ts';

const NewPaymentDialog = lazy(async () => ({
  default: (await import('./new-payment-dialog.tsx')).NewPaymentDialog,
}));

interface NewPaymentProps {
  /** The text of the button; by default the dialog's name. */
  readonly label?: string;
  readonly small?: boolean;
}

/** The button that creates a payment by hand, for people whose role permits it. */
export function NewPayment({ label, small = false }: NewPaymentProps) {
  const { t } = useLocale('detail');
  const { mode } = useScope();
  const actions = useActions();
  const [isOpen, setOpen] = useState(false);
  // An open dialog stays, with its typed text, and says so if the role no longer permits it.
  return (
    <>
      {actions.includes(`change_${mode}_payments`) ? (
        <Button kind="primary" icon="plus" small={small} onClick={() => setOpen(true)}>
          {label ?? t('new_payment')}
        </Button>
      ) : null}
      {isOpen ? (
        <Suspense>
          <NewPaymentDialog onClose={() => setOpen(false)} />
        </Suspense>
      ) : null}
    </>
  );
}

/** Shown instead of the payments of a project and mode that has none. */
export function NoPaymentsYet({ children }: { readonly children?: ReactNode }) {
  const { t } = useLocale();
  const { mode } = useScope();
  return (
    <Empty icon="payments" title={t('no_payments_title')} text={t(`no_${mode}_payments_text`)}>
      <NewPayment label={t(`first_${mode}_payment`)} />
      {children}
    </Empty>
  );
}
