import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, type ReactNode } from 'react';
import { useLocale } from '../../../locale.tsx';
import { problemText } from '../../../problem.ts';
import { useScope } from '../../../scope.ts';
import { buttonClass, IconButton } from '../../../ui/button.tsx';
import { Empty, SkeletonRows } from '../../../ui/placeholder.tsx';
import { isPlainKey } from '../../../ui/keys.ts';
import { Happened } from './happened.tsx';
import { PaymentActions } from './payment-actions.tsx';
import { Labels } from './labels.tsx';
import { Money, PaymentHeading, RefundsPart, SideParts } from './payment-parts.tsx';
import partsCss from './payment-parts.module.css';
import css from '../payments-page.module.css';
import { paymentQuery } from '../queries.ts';

interface PaymentPanelProps {
  readonly payment: string;
  readonly onClose: () => void;
}

/** A payment in a panel beside its list. */
export function PaymentPanel({ payment: id, onClose }: PaymentPanelProps) {
  const { t } = useLocale();
  const scope = useScope();
  const { data: payment, error } = useQuery(paymentQuery(scope, id));
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && isPlainKey(event)) onClose();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [onClose]);
  return (
    <aside className={css.panel} aria-label={t('payment')}>
      <div className={css.panelHead}>
        <h2>{t('payment')}</h2>
        <div>
          <Link
            className={buttonClass({ kind: 'quiet', small: true })}
            to="/projects/$project/$mode/payments/$payment"
            params={{ ...scope, payment: id }}
          >
            {t('open_page')}
          </Link>
          <IconButton icon="close" small label={t('close')} onClick={onClose} />
        </div>
      </div>
      {payment === undefined ? (
        error === null ? (
          <SkeletonRows count={6} />
        ) : (
          <Empty icon="warning" title={t('fault_title')} text={problemText(error, t)} />
        )
      ) : (
        <div className={css.panelBody}>
          <div className={partsCss.stack}>
            <PaymentHeading payment={payment} />
            <PaymentActions payment={payment} />
            <Money payment={payment} />
            <Labels payment={payment} />
            <RefundsPart payment={payment} Part={Part} />
            <SideParts payment={payment} Part={Part} />
            <Part title={t('happened')}>
              <Happened timeline={payment.timeline} />
            </Part>
          </div>
        </div>
      )}
    </aside>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className={partsCss.section}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}
