import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { ATTENTION_KINDS } from '../../../../src/domain/attention.ts';
import type { AttentionView } from '../../../../src/http/dashboard/attention/contract.ts';
import { useLocale } from '../../locale.tsx';
import { usePageSearch } from '../../search.ts';
import { useActions, useSignedIn } from '../../session.ts';
import { Page } from '../../shell/page.tsx';
import { Card } from '../../ui/card.tsx';
import { classNames } from '../../ui/class-names.ts';
import { isWide, usePanelFocus, useRowKeys, type PanelFocus } from '../../ui/keys.ts';
import { Empty, NotLoaded } from '../../ui/placeholder.tsx';
import split from '../payments/payments-page.module.css';
import { AttentionItem } from './attention-item.tsx';
import { AttentionSelection } from './attention-selection.tsx';
import css from './attention-page.module.css';
import { DoneItem } from './done-item.tsx';
import { attentionQuery } from './queries.ts';
import { PaymentPanel, useFullPage } from '../payments/payment/payment-page.tsx';
import { PaymentActionDialog, type PaymentAction } from '../payments/payment/payment-actions.tsx';
import { paymentQuery } from '../payments/queries.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { useScope } from '../../scope.ts';
import { Arrived } from '../log/arrived.tsx';
import { LogFilters } from '../log/log-filters.tsx';
import { useChoiceKey, useSelection } from '../selection/use-selection.ts';
import { attentionSearch, isWanted, WORTHS, type AttentionSearch } from './search.ts';

/** The items that need a person's attention, each with its best action. */
export function AttentionPage() {
  const { t, number } = useLocale('attention', 'bulk');
  const { search, isNarrowed, onChange, onClear, onShow } = usePageSearch(attentionSearch);
  const { show } = search;
  const panel = usePanelFocus(show, onShow);
  useFullPage(show);
  const [asked, ask] = useState<Asked | null>(null);
  return (
    <Page title={t('attention')} hasTimes>
      <LogFilters
        {...{ search, isNarrowed, onChange, onClear }}
        rows={[
          [
            'who',
            t('assign_to'),
            t('filter_anyone'),
            [
              ['me', t('filter_me')],
              ['nobody', t('assigned_nobody')],
            ],
          ],
          ['kind', t('filter_kind'), t('filter_any_kind'), ATTENTION_KINDS.map((kind) => [kind, t(`short_${kind}`)])],
          [
            'worth',
            t('filter_worth'),
            t('filter_any_worth'),
            WORTHS.map((one) => [one, t('filter_worth_least', { amount: number(Number(one)) })]),
          ],
        ]}
      />
      <Items {...{ search, isNarrowed, panel }} onAct={(payment, action) => ask({ payment, action })} />
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
  const found = useQuery(paymentQuery(useScope(), id));
  if (found.data !== undefined) return <PaymentActionDialog payment={found.data} action={action} onClose={onClose} />;
  return (
    <Dialog title={t('payment')} onClose={onClose}>
      <NotLoaded query={found} rows={4} />
    </Dialog>
  );
}

interface ItemsProps {
  readonly search: AttentionSearch;
  readonly isNarrowed: boolean;
  readonly panel: PanelFocus;
  readonly onAct: (payment: string, action: PaymentAction) => void;
}

function Items({ search, isNarrowed, panel, onAct }: ItemsProps) {
  const { t } = useLocale('attention');
  const scope = useScope();
  const { person } = useSignedIn();
  const list = useQuery(attentionQuery(scope));
  const { known, accept } = useKnown(list.data?.data);
  const [done, setDone] = useState<readonly AttentionView[]>([]);
  const { who, kind, worth, show } = search;
  const selection = useSelection([who, kind, worth].join());
  if (list.data === undefined) {
    return (
      <Card flush>
        <NotLoaded query={list} rows={6} />
      </Card>
    );
  }
  const { data, people, has_more: hasMore } = list.data;
  const visible = data.filter((item) => known.has(item.identity) && isWanted(search, item, person.id));
  const arrived = data.filter(({ identity }) => !known.has(identity)).length;
  const open = new Set(data.map(({ identity }) => identity));
  // Each item that was marked as done leaves a line in its place, from where it can be taken back.
  const left = done.filter((item) => !open.has(item.identity) && isWanted(search, item, person.id));
  return (
    <>
      <AttentionSelection items={visible} people={people} selection={selection} />
      <div className={classNames(split.split, show !== undefined && split.withPanel)}>
        <Card flush>
          <Arrived count={arrived} text={t('new_attention', { count: arrived })} onShow={() => accept(data)} />
          <List
            {...{ search, people, selection, panel, onAct, isNarrowed, hasMore }}
            items={[...visible, ...left].toSorted((a, b) => timeOf(b) - timeOf(a))}
            done={left}
            onDone={(item) => setDone((before) => [...before.filter((one) => one.identity !== item.identity), item])}
          />
        </Card>
        {show === undefined ? null : <PaymentPanel key={show} payment={show} onClose={panel.close} />}
      </div>
    </>
  );
}

/** The order of the server: the newest first, and before them items without a time. */
function timeOf({ at }: AttentionView): number {
  return at === null ? Number.MAX_SAFE_INTEGER : Date.parse(at);
}

interface ListProps extends ItemsProps {
  readonly people: Parameters<typeof AttentionItem>[0]['people'];
  readonly items: readonly AttentionView[];
  /** The items among them that were marked as done here. */
  readonly done: readonly AttentionView[];
  readonly hasMore: boolean;
  readonly selection: ReturnType<typeof useSelection>;
  readonly onDone: (item: AttentionView) => void;
}

function List(props: ListProps) {
  const { search, isNarrowed, people, items, done, hasMore, selection, panel, onAct, onDone } = props;
  const { t } = useLocale('attention');
  const scope = useScope();
  const actions = useActions();
  const navigate = useNavigate();
  const frame = useRef<HTMLUListElement>(null);
  useRowKeys(frame, (id) => (search.show === undefined ? undefined : panel.open(id)));
  useChoiceKey(frame, selection);
  // If there is no room for the panel, the payment's page opens.
  const show: PanelFocus['open'] = (payment, event) => {
    if (isWide()) panel.open(payment, event);
    else void navigate({ to: '/projects/$project/$mode/payments/$payment', params: { ...scope, payment } });
  };
  if (items.length === 0) {
    return isNarrowed ? (
      <Empty icon="filter" title={t('no_matches_title')} text={t('attention_no_match')} />
    ) : (
      <Empty icon="check-circle" title={t('attention_none_title')} text={t('attention_none_text')} />
    );
  }
  return (
    <>
      <ul ref={frame} className={css.items} aria-label={t('attention')}>
        {items.map((item) =>
          done.includes(item) ? (
            <DoneItem key={item.identity} item={item} />
          ) : (
            <AttentionItem
              key={item.identity}
              item={item}
              people={people}
              actions={actions}
              isShown={search.show !== undefined && item.payment?.id === search.show}
              isChosen={selection.chosen.has(item.identity)}
              onChoose={(isChosen) => selection.choose([item.identity], isChosen)}
              onShow={show}
              onAct={onAct}
              onDone={onDone}
            />
          ),
        )}
      </ul>
      {hasMore ? <p className={css.more}>{t('attention_more')}</p> : null}
    </>
  );
}

/** The shown items: those of the first list, and those requested since. New ones wait until the person shows them. */
function useKnown(data: readonly AttentionView[] | undefined) {
  const [known, setKnown] = useState<ReadonlySet<string> | null>(null);
  const accept = (items: readonly AttentionView[]): void => setKnown(new Set(items.map(({ identity }) => identity)));
  const isEmpty = data?.some(({ identity }) => known?.has(identity) === true) !== true;
  useEffect(() => {
    // An empty list shows new items at once, because nothing moves.
    if (isEmpty && data !== undefined && data.length > 0) accept(data);
  }, [isEmpty, data]);
  return { known: known ?? new Set((data ?? []).map(({ identity }) => identity)), accept };
}
