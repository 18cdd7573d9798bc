import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { CustomerDetails, CustomerView } from '../../../../src/http/dashboard/customers/contract.ts';
import { reads } from '../../api.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Ago, Badge, Coin, EmailAddress, Facts, Moment, Status } from '../../ui/value.tsx';
import { Block, LogPanel, PaymentLink } from '../log/log-panel.tsx';
import { projectKey } from '../payments/queries.ts';
import css from './customers.module.css';

interface CustomerPanelProps {
  readonly email: string;
  readonly onClose: () => void;
}

/** A customer: sums, and the newest payments, open invoices, refunds and notes. */
export function CustomerPanel({ email, onClose }: CustomerPanelProps) {
  const { t } = useLocale('customers');
  const scope = useScope();
  const found = useQuery(
    reads([...projectKey(scope), 'customers'], 'POST /dashboard/api/projects/:project/:mode/customers/find', {
      params: scope,
      body: { email },
    }),
  );
  return (
    <LogPanel title={t('customer_one')} found={found} onClose={onClose}>
      {(customer) => <Customer customer={customer} />}
    </LogPanel>
  );
}

/** The number of a customer's payments, as far as they are counted. */
export function useCount(): (customer: CustomerView) => string {
  const { t, number } = useLocale('customers');
  return ({ payments, is_more: isMore }) =>
    isMore ? t('customer_more', { number: number(payments) }) : number(payments);
}

function Customer({ customer }: { readonly customer: CustomerDetails }) {
  const { t, fiat } = useLocale('customers');
  const countOf = useCount();
  const { id: email, value, refunded, currency, unvalued } = customer;
  return (
    <>
      <p className={css.email}>
        <EmailAddress address={email} />
      </p>
      {customer.is_more ? <Notice>{t('customer_no_sums', { number: countOf(customer) })}</Notice> : null}
      {unvalued > 0 ? <Notice>{t('customer_unvalued', { count: unvalued, currency })}</Notice> : null}
      <Facts
        facts={[
          [t('payments'), countOf(customer)],
          [t('customer_value'), value === null ? null : fiat(value, currency)],
          [t('customer_refunded'), refunded === null ? null : fiat(refunded, currency)],
          [t('customer_last'), <Moment iso={customer.last_payment_at} />],
        ]}
      />
      <Newest customer={customer} />
      <Link
        className={buttonClass({ small: true })}
        to="/projects/$project/$mode/payments"
        params={useScope()}
        search={{ email }}
      >
        {t('customer_payments')}
      </Link>
      <OpenInvoices open={customer.open} />
      <Refunds refunds={customer.refunds} />
      <Notes notes={customer.notes} />
    </>
  );
}

/** A list of records under a heading; nothing if there are none. */
function Listed({ title, rows }: { readonly title: string; readonly rows: readonly (readonly [string, ReactNode])[] }) {
  if (rows.length === 0) return null;
  return (
    <Block title={title}>
      <ul className={css.rows}>
        {rows.map(([key, row]) => (
          <li key={key}>{row}</li>
        ))}
      </ul>
    </Block>
  );
}

function Newest({ customer }: { readonly customer: CustomerDetails }) {
  const { t, fiat } = useLocale('customers');
  const rows = customer.newest.map((payment) => {
    const name = payment.order_id ?? payment.transaction_number;
    return [
      payment.id,
      <>
        <PaymentLink payment={payment.id} name={name} />
        <Status status={payment.status} exception={payment.exception} />
        <span>{fiat(payment.amount, payment.currency)}</span>
        <Ago iso={payment.created_at} />
      </>,
    ] as const;
  });
  return <Listed title={t('customer_newest')} rows={rows} />;
}

function OpenInvoices({ open }: Pick<CustomerDetails, 'open'>) {
  const { t, fiat } = useLocale('customers');
  const scope = useScope();
  const rows = open.map(({ id, title, left, currency, created_at: at }) => {
    return [
      id,
      <>
        <Link to="/projects/$project/$mode/payment-requests" params={scope} search={{ show: id }}>
          {title}
        </Link>
        <span>{t('customer_left', { amount: fiat(left, currency) })}</span>
        <Ago iso={at} />
      </>,
    ] as const;
  });
  return <Listed title={t('customer_open')} rows={rows} />;
}

const TONES = { pending: 'open', completed: 'good', failed: 'bad' } as const;

function Refunds({ refunds }: Pick<CustomerDetails, 'refunds'>) {
  const { t } = useLocale('customers');
  const scope = useScope();
  const rows = refunds.map((refund) => {
    const { id, status, crypto_amount: amount, asset } = refund;
    return [
      id,
      <>
        <Link to="/projects/$project/$mode/refunds" params={scope} search={{ show: id }}>
          <Coin amount={amount} asset={asset} />
        </Link>
        <Badge tone={TONES[status]}>{t(`customer_refund_${status}`)}</Badge>
        <Ago iso={refund.created_at} />
      </>,
    ] as const;
  });
  return <Listed title={t('refunds')} rows={rows} />;
}

function Notes({ notes }: Pick<CustomerDetails, 'notes'>) {
  const { t } = useLocale('customers');
  const rows = notes.map(({ id, payment, author, body, created_at: at }) => {
    return [
      id,
      <>
        <p className={css.note}>{body}</p>
        <PaymentLink payment={payment} name={t('payment')} />
        <span>{author}</span>
        <Ago iso={at} />
      </>,
    ] as const;
  });
  return <Listed title={t('customer_notes')} rows={rows} />;
}
