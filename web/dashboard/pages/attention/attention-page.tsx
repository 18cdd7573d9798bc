import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { AttentionView } from '../../../../src/http/dashboard/attention/contract.ts';
import { useLocale } from '../../locale.tsx';
import { useActions } from '../../session.ts';
import { Page } from '../../shell/page.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { classNames } from '../../ui/class-names.ts';
import { Empty, NotLoaded, SkeletonRows } from '../../ui/placeholder.tsx';
import split from '../payments/payments-page.module.css';
import { AttentionItem } from './attention-item.tsx';
import css from './attention-page.module.css';
import { attentionQuery, useMark } from './queries.ts';
import { PaymentPanel } from '../payments/payment/payment-page.tsx';
import { PaymentActionDialog, type PaymentAction } from '../payments/payment/payment-actions.tsx';
import { paymentQuery } from '../payments/queries.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Problem } from '../../ui/notice.tsx';
import { useScope } from '../../scope.ts';

/** The items that need a person's attention, each with its best action. */
export function AttentionPage() {
  const { t } = useLocale('attention');
  const { show } = useSearch({ from: '/signed-in/projects/$project/$mode/attention' });
  const navigate = useNavigate({ from: '/projects/$project/$mode/attention' });
  const go = (payment: string | undefined): void =>
    void navigate({ search: payment === undefined ? {} : { show: payment }, resetScroll: false });
  const [asked, ask] = useState<Asked | null>(null);
  return (
    <Page title={t('attention')} hasTimes>
      <div className={classNames(split.split, show !== undefined && split.withPanel)}>
        <Card flush>
          <Items shown={show} onShow={go} onAct={(payment, action) => ask({ payment, action })} />
        </Card>
        {show === undefined ? null : <PaymentPanel key={show} payment={show} onClose={() => go(undefined)} />}
      </div>
      {asked === null ? null : <ActionOn {...asked} onClose={() => ask(null)} />}
    </Page>
  );
}

interface Asked {
  /** A payment's id. */
  readonly payment: string;
  readonly action: PaymentAction;
}

/** The dialog of an action, which stays when its item is over. */
function ActionOn({ payment: id, action, onClose }: Asked & { readonly onClose: () => void }) {
  const { t } = useLocale('attention');
  const { data: payment, error } = useQuery(paymentQuery(useScope(), id));
  if (payment !== undefined) return <PaymentActionDialog payment={payment} action={action} onClose={onClose} />;
  return (
    <Dialog title={t('payment')} onClose={onClose}>
      {error === null ? <SkeletonRows count={4} /> : <Problem error={error} />}
    </Dialog>
  );
}

const keyOf = ({ kind, subject, occurrence }: AttentionView): string => `${kind} ${subject} ${occurrence}`;

interface ItemsProps {
  readonly shown: string | undefined;
  readonly onShow: (payment: string) => void;
  readonly onAct: (payment: string, action: PaymentAction) => void;
}

function Items({ shown, onShow, onAct }: ItemsProps) {
  const { t } = useLocale('attention');
  const scope = useScope();
  const actions = useActions();
  const navigate = useNavigate();
  const list = useQuery(attentionQuery(scope));
  const { known, accept } = useKnown(list.data?.data);
  const [done, setDone] = useState<AttentionView | null>(null);
  if (list.data === undefined) return <NotLoaded query={list} rows={6} />;
  const { data, people, has_more: hasMore } = list.data;
  const visible = data.filter((item) => known.has(keyOf(item)));
  const arrived = data.length - visible.length;
  // If there is no room for the panel, the payment's page opens.
  const open = (payment: string): void => {
    if (matchMedia('(width >= 64rem)').matches) onShow(payment);
    else void navigate({ to: '/projects/$project/$mode/payments/$payment', params: { ...scope, payment } });
  };
  return (
    <>
      <Above arrived={arrived} onAccept={() => accept(data)} done={done} onUndone={() => setDone(null)} />
      {visible.length === 0 ? (
        arrived > 0 ? null : (
          <Empty icon="check-circle" title={t('attention_none_title')} text={t('attention_none_text')} />
        )
      ) : (
        <ul className={css.items} aria-label={t('attention')}>
          {visible.map((item) => (
            <AttentionItem
              key={keyOf(item)}
              item={item}
              people={people}
              actions={actions}
              isShown={shown !== undefined && item.payment?.id === shown}
              onShow={open}
              onAct={onAct}
              onDone={setDone}
            />
          ))}
        </ul>
      )}
      {hasMore ? <p className={css.more}>{t('attention_more')}</p> : null}
    </>
  );
}

interface AboveProps {
  readonly arrived: number;
  readonly onAccept: () => void;
  /** The item that was last marked as done. */
  readonly done: AttentionView | null;
  readonly onUndone: () => void;
}

/** The line above the list: new items, and the one marked as done, which can be undone. */
function Above({ arrived, onAccept, done, onUndone }: AboveProps) {
  const { t } = useLocale('attention');
  const undo = useMark(onUndone);
  return (
    <div role="status">
      {arrived === 0 ? null : (
        <div className={split.arrived}>
          <Button small icon="refresh" onClick={() => onAccept()}>
            {t('new_attention', { count: arrived })}
          </Button>
        </div>
      )}
      {done === null ? null : (
        <div className={css.undo}>
          {t('attention_done')}{' '}
          <Button
            small
            kind="quiet"
            busy={undo.isPending}
            onClick={() => undo.mutate({ item: { ...done, version: done.version + 1 }, change: { done: false } })}
          >
            {t('undo')}
          </Button>
        </div>
      )}
    </div>
  );
}

/** The shown items: those of the first list, and those requested since. New ones wait until the person shows them. */
function useKnown(data: readonly AttentionView[] | undefined) {
  const [known, setKnown] = useState<ReadonlySet<string> | null>(null);
  const accept = (items: readonly AttentionView[]): void => setKnown(new Set(items.map(keyOf)));
  const isEmpty = data?.some((item) => known?.has(keyOf(item)) === true) !== true;
  useEffect(() => {
    // An empty list shows new items at once, because nothing moves.
    if (isEmpty && data !== undefined && data.length > 0) accept(data);
  }, [isEmpty, data]);
  return { known: known ?? new Set((data ?? []).map(keyOf)), accept };
}
