import type { ComponentType, ReactNode } from 'react';
import type { PaymentView } from '../../../../src/http/dashboard/payments/contract.ts';
import { useLocale } from '../../locale.tsx';
import { Notes } from './notes.tsx';
import { Addresses, PaymentDetails } from './payment-parts.tsx';
import css from './payment-parts.module.css';
import { Refunds } from './refunds.tsx';

interface PartsProps {
  readonly payment: PaymentView;
  /** The frame of a part: a card on the payment's page, a section in its panel. */
  readonly Part: ComponentType<{ readonly title: string; readonly children: ReactNode }>;
}

/** The payment's refunds; nothing if there are none. */
export function RefundsPart({ payment, Part }: PartsProps) {
  const { t } = useLocale('detail');
  if (payment.refunds.length === 0) return null;
  return (
    <Part title={t('refunds')}>
      <Refunds payment={payment} />
    </Part>
  );
}

/** Details, notes and addresses; `aboveNotes` is shown with the notes. */
export function SideParts({ payment, Part, aboveNotes }: PartsProps & { readonly aboveNotes?: ReactNode }) {
  const { t } = useLocale('detail');
  return (
    <>
      <Part title={t('details')}>
        <PaymentDetails payment={payment} />
      </Part>
      <Part title={t('notes')}>
        <div className={css.stack}>
          {aboveNotes}
          <Notes payment={payment} />
        </div>
      </Part>
      <Part title={t('addresses')}>
        <Addresses payment={payment} />
      </Part>
    </>
  );
}
