import { Fragment } from 'react';
import type { PaymentView } from '../../../../src/http/dashboard/contract/payments.ts';
import { useLocale } from '../../locale.tsx';
import { CopyButton, Short } from '../../ui/copy.tsx';
import { Moment } from '../../ui/moment.tsx';
import css from './payment-parts.module.css';
import { networkName } from './network-name.ts';
import { moneyShares } from './shares.ts';

interface PartProps {
  readonly payment: PaymentView;
}

/** Expected and received money, in the payment's asset. */
export function Money({ payment: { money, confirmations } }: PartProps) {
  const { t, percent } = useLocale();
  if (money === null) return <p className={css.soft}>{t('no_token_yet')}</p>;
  const { asset, expected, received, missing, excess, refunded } = money;
  const shares = moneyShares(money);
  const lines = [
    received !== '0' && missing !== '0' ? t('missing', { amount: missing, asset }) : null,
    excess === '0' ? null : t('excess', { amount: excess, asset }),
    refunded === '0' ? null : t('refunded', { amount: refunded, asset }),
    confirmations === null ? null : t('confirmations', { have: confirmations.have, need: confirmations.need }),
  ].filter((line) => line !== null);
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
      </svg>
      <div className={css.sums}>
        <span>
          <b>{received}</b> {t('of_received', { owed: expected, asset })}
        </span>
        <span className={css.soft}>{lines.join(' · ')}</span>
      </div>
    </div>
  );
}

/** The payment's fields; empty ones are left out. */
export function PaymentDetails({ payment }: PartProps) {
  const { t } = useLocale();
  const { crypto, address, addresses, metadata } = payment;
  const explorer = addresses.find((one) => one.is_current)?.explorer_url ?? null;
  const facts = [
    [t('order'), payment.order_id],
    [t('number'), payment.transaction_number],
    [t('customer'), payment.customer_email],
    [t('customer_name'), payment.customer_name],
    [t('description'), payment.description],
    [t('paid_in'), crypto === null ? null : `${crypto.asset} · ${networkName(crypto.network)}`],
    [t('address'), address === null ? null : <Short text={address} what={t('address')} href={explorer} />],
    [t('id'), <Short key="id" text={payment.id} what={t('id')} />],
    [t('created'), <Moment key="created" iso={payment.created_at} />],
    [t('expires'), <Moment key="expires" iso={payment.expires_at} />],
    [
      t('payment_page'),
      <CopyButton key="page" text={payment.payment_url}>
        {t('copy_link')}
      </CopyButton>,
    ],
    ...Object.entries(metadata),
  ] as const;
  return (
    <dl className={css.facts}>
      {facts.map(([name, value]) =>
        value === null ? null : (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ),
      )}
    </dl>
  );
}

/** Transfers to the payment, one on each line. */
export function Transfers({ payment: { transfers } }: PartProps) {
  const { t } = useLocale();
  if (transfers.length === 0) return <p className={css.soft}>{t('no_transfers')}</p>;
  return (
    <ul className={css.transfers}>
      {transfers.map((transfer, index) => (
        <li key={`${transfer.transaction_hash} ${index}`}>
          <span>
            <b>
              {transfer.amount} {transfer.asset}
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
