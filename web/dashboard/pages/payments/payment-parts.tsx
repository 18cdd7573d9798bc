import { Fragment } from 'react';
import type { PaymentView } from '../../../../src/http/dashboard/contract/payments.ts';
import { useLocale } from '../../locale.tsx';
import { CopyButton, Short } from '../../ui/copy.tsx';
import { Moment } from '../../ui/moment.tsx';
import css from './payment-parts.module.css';
import { moneyShares } from './shares.ts';

interface PartProps {
  readonly payment: PaymentView;
}

/** What was asked for and what has come, in the coin. */
export function Money({ payment: { crypto, confirmations } }: PartProps) {
  const { t, percent } = useLocale();
  if (crypto === null) return <p className={css.soft}>{t('no_token_yet')}</p>;
  const { owed, received, asset } = crypto;
  const { paid, excess, missing, over } = moneyShares(owed, received);
  return (
    <div className={css.part}>
      <svg
        className={css.bar}
        viewBox="0 0 100 4"
        preserveAspectRatio="none"
        role="img"
        aria-label={t('received_share', { share: percent(paid + excess) })}
      >
        <rect width={paid} height="4" />
        <rect className={css.excess} x={paid} width={excess} height="4" />
      </svg>
      <div className={css.sums}>
        <span>
          <b>{received}</b> {t('of_received', { owed, asset })}
        </span>
        <span className={css.soft}>
          {missing !== null && received !== '0' ? t('missing', { amount: missing, asset }) : null}
          {over === null ? null : t('excess', { amount: over, asset })}
        </span>
      </div>
      {confirmations === null ? null : (
        <p className={css.soft}>{t('confirmations', { have: confirmations.have, need: confirmations.need })}</p>
      )}
    </div>
  );
}

/** What is known of it; what was not said is left out. */
export function PaymentDetails({ payment }: PartProps) {
  const { t } = useLocale();
  const { crypto, address, metadata } = payment;
  const facts = [
    [t('order'), payment.order_id],
    [t('number'), payment.transaction_number],
    [t('customer'), payment.customer_email],
    [t('customer_name'), payment.customer_name],
    [t('description'), payment.description],
    [t('paid_in'), crypto === null ? null : `${crypto.asset} · ${crypto.network}`],
    [t('address'), address === null ? null : <Short text={address} what={t('address')} />],
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

/** Money that came, one arrival a line. */
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
          <Short text={transfer.transaction_hash} what={t('hash')} href={transfer.explorer_url} />
        </li>
      ))}
    </ul>
  );
}

/** All that happened to it, the newest first. */
export function Happened({ payment: { timeline } }: PartProps) {
  const { t } = useLocale();
  const entries = timeline.toSorted((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
  return (
    <section className={css.part} aria-label={t('happened')}>
      <ol className={css.time}>
        {entries.map((entry, index) => (
          <li key={`${entry.at} ${entry.what} ${index}`}>
            <span className={css.dot} />
            <div>
              <What entry={entry} />
              {entry.detail === null ? null : <small>{entry.detail}</small>}
              <small>
                <Moment iso={entry.at} />
              </small>
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

const STATUSES = [
  'created',
  'prepared',
  'pending',
  'processing',
  'confirming',
  'completed',
  'failed',
  'expired',
  'cancelled',
] as const;

function What({ entry: { kind, what } }: { readonly entry: PaymentView['timeline'][number] }) {
  const { t } = useLocale();
  if (kind === 'status') {
    const status = STATUSES.find((one) => one === what);
    return <b>{status === undefined ? what : t(`became_${status}`)}</b>;
  }
  return (
    <span>
      {t(`happened_${kind}`)} <code>{what}</code>
    </span>
  );
}
