import { useSuspenseQuery, useQuery } from '@tanstack/react-query';
import { Link, useCanGoBack, useNavigate, useParams, useRouter } from '@tanstack/react-router';
import { useLocale } from '../../../locale.tsx';
import { Page } from '../../../shell/page.tsx';
import { Card } from '../../../ui/card.tsx';
import { Status } from '../../../ui/value.tsx';
import { LogOfPayment } from '../../log/log-of-payment.tsx';
import { Happened } from './happened.tsx';
import { PaymentActions } from './payment-actions.tsx';
import partsCss from './payment-parts.module.css';
import { Labels } from './labels.tsx';
import { Money, Transfers, RefundsPart, SideParts, PaymentHeading } from './payment-parts.tsx';
import { paymentQuery } from '../queries.ts';
import { useEffect, type ReactNode } from 'react';
import { buttonClass, IconButton } from '../../../ui/button.tsx';
import { NotLoaded } from '../../../ui/placeholder.tsx';
import { isPlainKey, isWide } from '../../../ui/keys.ts';
import css from '../payments-page.module.css';
import { useScope } from '../../../scope.ts';
import { useActions } from '../../../session.ts';

/** One payment in detail. */
export function PaymentPage() {
  const { t, fiat } = useLocale();
  const scope = useScope();
  const { payment: id } = useParams({ from: '/signed-in/projects/$project/$mode/payments/$payment' });
  const { data: payment } = useSuspenseQuery(paymentQuery(scope, id));
  const mayReadEvents = useActions().includes('read_developer');
  const name = payment.order_id ?? payment.transaction_number ?? payment.id;
  useEscapeBack();
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
          <Card
            title={t('happened')}
            actions={
              mayReadEvents ? <LogOfPayment log="event-log" payment={payment.id} text={t('events')} /> : undefined
            }
          >
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

/** Escape leads back to where the payment was opened, such as a filtered list; without that, to all payments. */
function useEscapeBack(): void {
  const router = useRouter();
  const canGoBack = useCanGoBack();
  const scope = useScope();
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || !isPlainKey(event) || document.querySelector('[role=dialog]') !== null) return;
      if (canGoBack) router.history.back();
      else void router.navigate({ to: '/projects/$project/$mode/payments', params: scope });
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [router, canGoBack, scope.project, scope.mode]);
}

/** Opens the page of a payment whose panel has no room: a link to it may have been copied on a wider screen. */
export function useFullPage(shown: string | undefined): void {
  const scope = useScope();
  const navigate = useNavigate();
  useEffect(() => {
    if (shown === undefined || isWide()) return;
    void navigate({
      to: '/projects/$project/$mode/payments/$payment',
      params: { ...scope, payment: shown },
      replace: true,
    });
  }, [shown]);
}

interface PaymentPanelProps {
  readonly payment: string;
  readonly onClose: () => void;
}

/** A payment in a panel beside its list. */
export function PaymentPanel({ payment: id, onClose }: PaymentPanelProps) {
  const { t } = useLocale();
  const scope = useScope();
  const found = useQuery(paymentQuery(scope, id));
  const { data: payment } = found;
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && isPlainKey(event)) onClose();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [onClose]);
  return (
    <aside className={css.panel} aria-label={t('payment')} tabIndex={-1}>
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
        <NotLoaded query={found} rows={6} />
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
