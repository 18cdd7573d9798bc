import { lazy, Suspense, useState } from 'react';
import { useLocale } from '../../locale.tsx';
import { useActions } from '../../session.ts';
import { Button } from '../../ui/button.tsx';
import { useScope } from '../../scope.ts';

const NewPaymentDialog = lazy(async () => ({
  default: (await import('./new-payment-dialog.tsx')).NewPaymentDialog,
}));

/** The button that creates a payment by hand, for people whose role permits it. */
export function NewPayment() {
  const { t } = useLocale('detail');
  const { mode } = useScope();
  const actions = useActions();
  const [isOpen, setOpen] = useState(false);
  // An open dialog stays, with its typed text, and says so if the role no longer permits it.
  return (
    <>
      {actions.includes(`change_${mode}_payments`) ? (
        <Button icon="plus" onClick={() => setOpen(true)}>
          {t('new_payment')}
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
