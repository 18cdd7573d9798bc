import { useSuspenseQuery, useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useLocale } from '../../../locale.tsx';
import { Page } from '../../../shell/page.tsx';
import { Card } from '../../../ui/card.tsx';
import { Status } from '../../../ui/value.tsx';
import { Happened } from './happened.tsx';
import { PaymentActions } from './payment-actions.tsx';
import partsCss from './payment-parts.module.css';
import { Labels } from './labels.tsx';
import { Money, Transfers, RefundsPart, SideParts, PaymentHeading } from './payment-parts.tsx';
import { paymentQuery } from '../queries.ts';
import { useEffect, type ReactNode } from 'react';
import { problemText } from '../../../problem.ts';
import { buttonClass, IconButton } from '../../../ui/button.tsx';
import { Empty, SkeletonRows } from '../../../ui/placeholder.tsx';
import { isPlainKey } from '../../../ui/keys.ts';
import css from '../payments-page.module.css';
import { useScope } from '../../../scope.ts';

/** One payment in detail. */
export function PaymentPage() {
  const { t, fiat } = useLocale();
  const scope = useScope();
  const { payment: id } = useParams({ from: '/signed-in/projects/$project/$mode/payments/$payment' });
  const { data: payment } = useSuspenseQuery(paymentQuery(scope, id));
  const name = payment.order_id ?? payment.transaction_number ?? payment.id;
  return (
    <Page
      title={t('payment_named', { name })}
      heading={fiat(payment.amount, payment.currency)}
      crumbs={
        <>
          <Link to="/projects/$project/$mode/payments" params={scope}>
            {t('payments')}
          </Link>{' '}
          / {name}
        </>
      }
      beside={<Status status={payment.status} exception={payment.exception} />}
      actions={<PaymentActions payment={payment} />}
      hasTimes
    >
      <div className={partsCss.grid}>
        <div className={partsCss.column}>
          <Card title={t('money')}>
            <Money payment={payment} />
          </Card>
          <RefundsPart payment={payment} Part={Card} />
          <Card title={t('transfers')}>
            <Transfers payment={payment} />
          </Card>
          <Card title={t('happened')}>
            <Happened timeline={payment.timeline} />
          </Card>
        </div>
        <div className={partsCss.column}>
          <SideParts payment={payment} Part={Card} aboveNotes={<Labels payment={payment} />} />
        </div>
      </div>
    </Page>
  );
}

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
