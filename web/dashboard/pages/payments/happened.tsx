import type { TimelineEntry } from '../../../../src/http/dashboard/contract/payments.ts';
import { useLocale } from '../../locale.tsx';
import { Short } from '../../ui/copy.tsx';
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
  const { t } = useLocale('detail');
  switch (entry.kind) {
    case 'status':
      return <b>{t(entry.from === null ? 'became_created' : `became_${entry.to}`)}</b>;
    case 'transfer': {
      const { amount, asset, state, transaction_hash, explorer_url } = entry.transfer;
      return (
        <span>
          <b>
            {amount} {asset}
          </b>{' '}
          {t(`money_${state}`)}
          {transaction_hash === null ? null : (
            <small>
              <Short text={transaction_hash} what={t('hash')} href={explorer_url} />
            </small>
          )}
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
          {t(entry.what === 'completed' ? 'refund_completed' : 'refund_pending')}{' '}
          <b>
            {entry.refund.crypto_amount} {entry.refund.asset}
          </b>
          {entry.by === null ? null : `, ${t('by', { who: entry.by })}`}
        </span>
      );
    case 'action':
      return (
        <span>
          {t('done_by', { action: actionName(entry.action, t), who: entry.by })}
          {entry.detail === null ? null : (
            <>
              : <b>{entry.detail}</b>
            </>
          )}
        </span>
      );
  }
}

type Deliveries = Extract<TimelineEntry, { readonly kind: 'event' }>['deliveries'];

/** One delivery of an event and its state. */
function Deliveries({ deliveries }: { readonly deliveries: Deliveries }) {
  const { t, duration } = useLocale('detail');
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
        {attempts.length < 2 ? '' : ` · ${t('attempts', { count: attempts.length })}`}
      </small>
    );
  });
}

const ACTIONS = {
  'payment.accept': 'accept_payment',
  'payment.cancel': 'cancel_payment',
  'payment.complete': 'complete_payment',
  'payment.create': 'told_payment_create',
  'payment.label': 'told_label',
  'payment.label_remove': 'told_label_remove',
  'payment.note': 'told_note',
  'payment.note_delete': 'told_note_delete',
  'payment.note_edit': 'told_note_edit',
  'payment.simulate': 'simulate',
  'refund.cancel': 'told_refund_cancel',
} as const;

/** The text for an action in the audit log; the action itself if it is unknown, as from a newer version. */
function actionName(action: string, t: ReturnType<typeof useLocale>['t']): string {
  return isKnown(action) ? t(ACTIONS[action]) : action;
}

function isKnown(action: string): action is keyof typeof ACTIONS {
  return Object.hasOwn(ACTIONS, action);
}
