import { useLocale, type Translate } from '../../../locale.tsx';
import { Coin, Short } from '../../../ui/value.tsx';
import { stepsOf, type Step } from './history.ts';
import css from './happened.module.css';
import type { TimelineEntry } from '../../../../../src/http/dashboard/payments/contract.ts';

/** A payment's history by day, newest first. */
export function Happened({ timeline }: { readonly timeline: readonly TimelineEntry[] }) {
  const { localDay, date, time, exactTime } = useLocale();
  const steps = stepsOf(timeline).map((step, number) => ({ ...step, number }));
  const days = Map.groupBy(steps.toReversed(), ({ entry }) => localDay(entry.at));
  return (
    <div>
      {[...days].map(([day, [first, ...others]]) =>
        first === undefined ? null : (
          <div key={day}>
            <p className={css.day}>{date(first.entry.at)}</p>
            <ol className={css.time}>
              {[first, ...others].map((step) => (
                <li key={step.number}>
                  <time dateTime={step.entry.at} title={exactTime(step.entry.at)}>
                    {time(step.entry.at)}
                  </time>
                  <span className={css.dot} />
                  <div>
                    <What step={step} />
                    {step.events.map((event) => (
                      <Sent key={event.id} event={event} />
                    ))}
                  </div>
                </li>
              ))}
            </ol>
          </div>
        ),
      )}
    </div>
  );
}

function What({ step: { entry, action } }: { readonly step: Step }) {
  const { t } = useLocale('detail');
  switch (entry.kind) {
    case 'status':
      return (
        <p>
          <b>{t(entry.from === null ? 'became_created' : `became_${entry.to}`)}</b>
          {action === null ? null : <Doer text={howOf(action.action)} entry={action} />}
        </p>
      );
    case 'transfer': {
      const { amount, asset, state, transaction_hash, explorer_url } = entry.transfer;
      return (
        <>
          <p>
            <b>
              <Coin amount={amount} asset={asset} />
            </b>{' '}
            {t(state === 'dropped' ? 'money_dropped' : 'money_came')}
            {action === null ? null : <Doer text={howOf(action.action)} entry={action} />}
          </p>
          {transaction_hash === null ? null : (
            <small>
              <Short text={transaction_hash} what={t('hash')} href={explorer_url} />
            </small>
          )}
        </>
      );
    }
    case 'event':
      return <Sent event={entry} />;
    case 'refund':
      return (
        <p>
          <b>{t(`told_refund_${entry.what}`)}</b>:{' '}
          <Coin amount={entry.refund.crypto_amount} asset={entry.refund.asset} />
          <Doer text="by" entry={entry} />
        </p>
      );
    case 'action':
      return (
        <p>
          <b>{actionName(entry.action, t)}</b>
          {entry.detail === null ? null : `: ${entry.detail}`}
          <Doer text="by" entry={entry} />
        </p>
      );
  }
}

interface DoerProps {
  readonly text: 'by' | 'accepted_by' | 'simulated_by';
  /** The entry of the person whose e-mail is `by`. */
  readonly entry: { readonly by: string | null; readonly by_name: string | null };
}

function Doer({ text, entry: { by, by_name: name } }: DoerProps) {
  const { t } = useLocale('detail');
  if (by === null) return null;
  return (
    <span className={css.soft} title={name === null ? undefined : by}>
      {' '}
      · {t(text, { who: name ?? by })}
    </span>
  );
}

function howOf(action: string): DoerProps['text'] {
  if (action === 'payment.accept') return 'accepted_by';
  return action === 'payment.simulate' ? 'simulated_by' : 'by';
}

/** An event with its deliveries and their state. */
function Sent({ event: { type, deliveries } }: { readonly event: Extract<TimelineEntry, { readonly kind: 'event' }> }) {
  const { t, duration } = useLocale('detail');
  if (deliveries.length === 0) {
    return (
      <small>
        <code>{type}</code>
      </small>
    );
  }
  return deliveries.map(({ id, url, state, attempts }) => {
    const last = attempts.at(-1);
    const how = [
      // One that failed and will be sent again is called so here as in the list of deliveries.
      t(state === 'waiting' && last !== undefined ? 'delivery_failed' : `delivery_${state}`),
      last?.status === null || last === undefined ? last?.error : `HTTP ${last.status}`,
      last === undefined ? null : last.duration_ms < 1_000 ? `${last.duration_ms} ms` : duration(last.duration_ms),
    ].filter((part) => part !== null && part !== undefined);
    return (
      <small key={id} className={css.sent}>
        <span title={url ?? undefined}>
          <code>{type}</code>
          {url === null ? '' : ` → ${url.replace(/^https?:\/\//, '')}`}
        </span>
        <span>
          {how.join(', ')}
          {attempts.length < 2 ? '' : ` · ${t('attempts', { count: attempts.length })}`}
        </span>
      </small>
    );
  });
}

const ACTIONS = {
  'payment.advance': 'told_advance',
  'payment.accept': 'accept_payment',
  'payment.cancel': 'cancel_payment',
  'payment.complete': 'complete_payment',
  'payment.create': 'told_payment_create',
  'payment.label': 'told_label',
  'payment.label_remove': 'told_label_remove',
  'payment.note': 'told_note',
  'payment.note_delete': 'told_note_delete',
  'payment.note_edit': 'told_note_edit',
  'payment.simulate': 'simulated',
  'refund.cancel': 'told_refund_cancel',
  'refund.send': 'told_refund_send',
  'refund.show': 'told_refund_show',
} as const;

/** The text for an action in the audit log; the action itself if it is unknown, as from a newer version. */
function actionName(action: string, t: Translate<'detail'>): string {
  return isKnown(action) ? t(ACTIONS[action]) : action;
}

function isKnown(action: string): action is keyof typeof ACTIONS {
  return Object.hasOwn(ACTIONS, action);
}
