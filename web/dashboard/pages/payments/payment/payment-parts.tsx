import { Link } from '@tanstack/react-router';
import type { ComponentType, ReactNode } from 'react';
import type { PaymentView } from '../../../../../src/http/dashboard/payments/contract.ts';
import { useLocale } from '../../../locale.tsx';
import { PageLinks } from '../link-dialog.tsx';
import { classNames } from '../../../ui/class-names.ts';
import { Coin, Facts, Moment, Short, Status } from '../../../ui/value.tsx';
import { useScope } from '../../../scope.ts';
import css from './payment-parts.module.css';
import { networkName } from '../../../formats.ts';
import { moneyShares } from './shares.ts';
import { Notes } from './notes.tsx';
import { Refunds } from '../refund/refunds.tsx';

interface PartProps {
  readonly payment: PaymentView;
}

/** Expected, received, confirmed, excess and refunded money, in the payment's asset. */
export function Money({ payment: { money, confirmations, currency } }: PartProps) {
  const { t, percent, price, dateTime, coin } = useLocale('detail');
  if (money === null) return <p className={css.soft}>{t('no_token_yet')}</p>;
  const { asset, expected, received, confirmed, missing, excess, refunds_paid, refunds_pending } = money;
  const shares = moneyShares(money);
  const end = shares.confirmed + shares.seen + shares.excess;
  const lines = [
    received !== '0' && missing !== '0' ? t('missing', { amount: coin(missing, asset) }) : null,
    confirmations === null ? null : t('confirmations', { have: confirmations.have, need: confirmations.need }),
  ].filter((line) => line !== null);
  const sums = [
    ['expected', expected, null],
    ['received', received, css.ofReceived],
    ['confirmed', confirmed, css.ofConfirmed],
    ['excess', excess === '0' ? null : excess, css.ofExcess],
    ['refunds_paid', refunds_paid === '0' ? null : refunds_paid, css.ofRefunded],
    ['refunds_pending', refunds_pending === '0' ? null : refunds_pending, css.ofRefunded],
  ] as const;
  return (
    <div className={css.part}>
      <svg
        className={css.bar}
        viewBox="0 0 100 4"
        preserveAspectRatio="none"
        role="img"
        aria-label={t('confirmed_share', { share: percent(shares.confirmed) })}
      >
        <rect width={shares.confirmed} height="4" />
        <rect className={css.seen} x={shares.confirmed} width={shares.seen} height="4" />
        <rect className={css.excess} x={100 - shares.excess} width={shares.excess} height="4" />
        <rect className={css.refunded} x={end - shares.refunded} y="2.5" width={shares.refunded} height="1.5" />
      </svg>
      <dl className={css.sums}>
        {sums.map(([name, amount, mark]) =>
          amount === null ? null : (
            <div key={name}>
              <dt>
                {mark === null ? null : <span className={classNames(css.mark, mark)} />}
                {t(`bar_${name}`)}
              </dt>
              <dd>
                <Coin amount={amount} asset={asset} />
              </dd>
            </div>
          ),
        )}
      </dl>
      {lines.length === 0 ? null : <p>{lines.join(' · ')}</p>}
      <p className={css.soft} title={`${money.rate} ${currency}`}>
        {t('rate_locked', { asset, rate: price(money.rate, currency), time: dateTime(money.rate_locked_at) })}
      </p>
    </div>
  );
}

/** The payment's fields; empty ones are left out. */
function PaymentDetails({ payment }: PartProps) {
  const { t } = useLocale('detail');
  const { crypto, address, addresses, metadata } = payment;
  const explorer = addresses.find((one) => one.is_current)?.explorer_url ?? null;
  const time = (iso: string | null) => (iso === null ? null : <Moment iso={iso} />);
  const facts: readonly (readonly [name: string, value: ReactNode])[] = [
    [t('order'), payment.order_id],
    [t('number'), payment.transaction_number],
    [t('customer'), payment.customer_email],
    [t('customer_name'), payment.customer_name],
    [t('description'), payment.description],
    [t('paid_in'), crypto === null ? null : `${crypto.asset} · ${networkName(crypto.network)}`],
    [t('address'), address === null ? null : <Short text={address} what={t('address')} href={explorer} />],
    [t('id'), <Short text={payment.id} what={t('id')} />],
    [t('created'), time(payment.created_at)],
    [t('expires'), time(payment.expires_at)],
    [t('completes'), time(payment.completes_at)],
    [t('completed'), time(payment.completed_at)],
    [t('cancelled'), time(payment.cancelled_at)],
    [t('payment_request'), payment.payment_request === null ? null : <RequestLink request={payment.payment_request} />],
    [
      t('payment_page'),
      <PageLinks
        of="payment"
        title={t('payment_page')}
        text={t('new_payment_done')}
        url={payment.payment_url}
        email={payment.customer_email ?? ''}
      />,
    ],
    [t('success_url'), payment.success_url],
    [t('cancel_url'), payment.cancel_url],
    [t('idempotency_key'), payment.idempotency_key],
  ];
  const entries = Object.entries(metadata);
  return (
    <div className={css.part}>
      <Facts className={css.facts} facts={facts} />
      {entries.length === 0 ? null : (
        <>
          <h3 className={css.subhead}>{t('metadata')}</h3>
          <Facts className={css.facts} facts={entries} />
        </>
      )}
    </div>
  );
}

/** The payment request that an invoice pays. */
function RequestLink({ request }: { readonly request: string }) {
  return (
    <Link to="/projects/$project/$mode/payment-requests" params={useScope()} search={{ show: request }}>
      {useLocale('detail').t('view_request')}
    </Link>
  );
}

/** Every address issued for the payment, newest first. */
function Addresses({ payment: { addresses } }: PartProps) {
  const { t } = useLocale('detail');
  if (addresses.length === 0) return <p className={css.soft}>{t('no_token_yet')}</p>;
  return (
    <ul className={css.rows}>
      {addresses.map((one) => (
        <li key={`${one.network} ${one.address} ${one.asset}`}>
          <div className={css.rowHead}>
            <span>
              <b>
                <Coin amount={one.expected} asset={one.asset} />
              </b>{' '}
              <span className={css.soft}>{networkName(one.network)}</span>
            </span>
            {one.is_current ? <span>{t('address_current')}</span> : null}
          </div>
          <div className={css.rowFoot}>
            <Short text={one.address} what={t('address')} href={one.explorer_url} />
          </div>
          <small>
            {t('issued')} <Moment iso={one.issued_at} />
            {one.watched_until === null ? null : (
              <>
                {' · '}
                {t('watched_until')} <Moment iso={one.watched_until} />
              </>
            )}
            {one.wallet_index === null ? null : ` · ${t('wallet_index')} ${one.wallet_index}`}
          </small>
        </li>
      ))}
    </ul>
  );
}

/** Transfers to the payment, one on each line. */
export function Transfers({ payment: { transfers } }: PartProps) {
  const { t } = useLocale('detail');
  if (transfers.length === 0) return <p className={css.soft}>{t('no_transfers')}</p>;
  return (
    <ul className={css.transfers}>
      {transfers.map((transfer, index) => (
        <li key={`${transfer.transaction_hash} ${index}`}>
          <span>
            <b>
              <Coin amount={transfer.amount} asset={transfer.asset} />
            </b>
            <small>
              {t(`transfer_${transfer.state}`)} · <Moment iso={transfer.seen_at} />
            </small>
          </span>
          {transfer.transaction_hash === null ? null : (
            <Short text={transfer.transaction_hash} what={t('hash')} href={transfer.explorer_url} />
          )}
        </li>
      ))}
    </ul>
  );
}

/** The amount and status. */
export function PaymentHeading({ payment }: { readonly payment: PaymentView }) {
  const { fiat } = useLocale();
  return (
    <div className={css.heading}>
      <strong>{fiat(payment.amount, payment.currency)}</strong>
      <Status status={payment.status} exception={payment.exception} />
    </div>
  );
}

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
