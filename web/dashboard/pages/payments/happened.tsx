import type { TimelineEntry } from '../../../../src/http/dashboard/contract/payments.ts';
import { useLocale } from '../../locale.tsx';
import { Moment } from '../../ui/moment.tsx';
import css from './payment-parts.module.css';

/** A payment's history, newest first. */
export function Happened({ timeline }: { readonly timeline: readonly TimelineEntry[] }) {
  return (
    <div className={css.part}>
      <ol className={css.time}>
        {timeline.toReversed().map((entry, index) => (
          <li key={timeline.length - index}>
            <span className={css.dot} />
            <div>
              <What entry={entry} />
              <small>
                <Moment iso={entry.at} />
              </small>
            </div>
          </li>
        ))}
      </ol>
    </div>
  );
}

function What({ entry }: { readonly entry: TimelineEntry }) {
  const { t } = useLocale();
  switch (entry.kind) {
    case 'status':
      return <b>{t(entry.from === null ? 'became_created' : `became_${entry.to}`)}</b>;
    case 'transfer': {
      const { amount, asset, state } = entry.transfer;
      return (
        <span>
          <b>
            {amount} {asset}
          </b>{' '}
          {t(`money_${state}`)}
        </span>
      );
    }
    case 'event':
      return (
        <span>
          {t('event_sent')} <code>{entry.type}</code>
          <Deliveries deliveries={entry.deliveries} />
        </span>
      );
    case 'refund':
      return (
        <span>
          {t(`refund_${entry.refund.status}`)}{' '}
          <b>
            {entry.refund.crypto_amount} {entry.refund.asset}
          </b>
        </span>
      );
    case 'action':
      return <span>{t('done_by', { action: actionName(entry.action, t), who: entry.by })}</span>;
  }
}

type Deliveries = Extract<TimelineEntry, { readonly kind: 'event' }>['deliveries'];

/** One delivery of an event and its state. */
function Deliveries({ deliveries }: { readonly deliveries: Deliveries }) {
  const { t, duration } = useLocale();
  return deliveries.map(({ id, url, state, attempts }) => {
    const last = attempts.at(-1);
    const how = [
      t(`delivery_${state}`),
      last?.status === null || last === undefined ? last?.error : `HTTP ${last.status}`,
      last === undefined ? null : last.duration_ms < 1_000 ? `${last.duration_ms} ms` : duration(last.duration_ms),
    ].filter((part) => part !== null && part !== undefined);
    return (
      <small key={id}>
        {url === null ? '' : `${url}: `}
        {how.join(', ')}
      </small>
    );
  });
}

const ACTIONS = ['accept', 'cancel', 'complete', 'simulate'] as const;

/** The label of an action in the audit log: that of its button. */
function actionName(action: string, t: ReturnType<typeof useLocale>['t']): string {
  const known = ACTIONS.find((one) => action === `payment.${one}`);
  return known === undefined ? action : t(known === 'simulate' ? 'simulate' : `${known}_payment`);
}
