import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useLocale } from '../../../locale.tsx';
import { useScope } from '../../../scope.ts';
import { Page } from '../../../shell/page.tsx';
import { Card } from '../../../ui/card.tsx';
import { Status } from '../../../ui/value.tsx';
import { Happened } from './happened.tsx';
import { PaymentActions } from './payment-actions.tsx';
import css from './payment-parts.module.css';
import { Labels } from './labels.tsx';
import { Money, Transfers, RefundsPart, SideParts } from './payment-parts.tsx';
import { paymentQuery } from '../queries.ts';

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
      <div className={css.grid}>
        <div className={css.column}>
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
        <div className={css.column}>
          <SideParts payment={payment} Part={Card} aboveNotes={<Labels payment={payment} />} />
        </div>
      </div>
    </Page>
  );
}
