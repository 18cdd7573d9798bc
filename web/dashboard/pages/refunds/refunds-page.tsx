import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useState } from 'react';
import { REFUND_STAGES } from '../../../../src/domain/refund-stage.ts';
import type { ListedRefundView, RefundFilters } from '../../../../src/http/dashboard/refunds/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { decimalsOf, formatUnits, unitsOf } from '../../decimal.ts';
import { networkName } from '../../formats.ts';
import { useLocale } from '../../locale.tsx';
import {
  beginOf,
  PERIOD_NAMES,
  present,
  readSearch,
  textUpTo,
  usePageSearch,
  type Given,
  type SearchOf,
} from '../../search.ts';
import { useActions } from '../../session.ts';
import { Page } from '../../shell/page.tsx';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Ago } from '../../ui/value.tsx';
import { asOptions, LogFilters, usePeriodRow } from '../log/log-filters.tsx';
import { LogView, type LogChoice, type LogColumn } from '../log/log-view.tsx';
import { useLog } from '../log/use-log.ts';
import { filterWordsQuery } from '../payments/list-queries.ts';
import { refundsKey } from '../payments/queries.ts';
import { RefundPanel, RefundStage, useStageText } from './refund-panel.tsx';
import barCss from '../selection/selection-bar.module.css';

import { useScope } from '../../scope.ts';

const NewRefundDialog = lazy(async () => ({ default: (await import('./new-refund-dialog.tsx')).NewRefundDialog }));
const SignDialog = lazy(async () => ({ default: (await import('./sign/sign-dialog.tsx')).SignDialog }));
const FileDialog = lazy(async () => ({ default: (await import('../log/file-dialog.tsx')).FileDialog }));

/** The filters of the refunds and the chosen one in the URL. */
const RULES = {
  stage: REFUND_STAGES,
  /** The server knows the coins. */
  coin: /^[A-Z]{2,8}$/,
  network: /^[a-z]{2,20}$/,
  period: PERIOD_NAMES,
  search: textUpTo(255),
  show: /^re_[0-9a-z]{26}$/,
} as const;
export type RefundsSearch = SearchOf<typeof RULES>;

function refundsSearch(given: Given): RefundsSearch {
  return readSearch(RULES, given);
}

/** The filters in the server's terms. */
function filtersOf({ stage, coin, network, period, search }: RefundsSearch): RefundFilters {
  return present({ stage, asset: coin, network, created_after: beginOf(period), search }) as RefundFilters;
}

/** A dialog over the page, or the result of one. */
type Opened =
  | 'create'
  | 'export'
  | { readonly sign: readonly ListedRefundView[] }
  /** The id of a new refund. */
  | { readonly made: string };

/** The refunds of a project and mode. */
export function RefundsPage() {
  const { t } = useLocale('refunds', 'detail', 'list');
  const { search, isNarrowed, onChange, onClear, onShow } = usePageSearch(refundsSearch);
  const filters = filtersOf(search);
  const chosen = useChosen();
  const textOf = useStageText();
  const { coins, networks = [] } = useQuery(filterWordsQuery).data ?? {};
  const [opened, open] = useState<Opened | null>(null);
  const sign = (refunds: readonly ListedRefundView[]): void => open({ sign: refunds });
  return (
    <Page title={t('refunds')} hasTimes actions={<Actions onOpen={open} />}>
      <LogFilters
        search={search}
        isNarrowed={isNarrowed}
        rows={[
          ['search', t('refund_search')],
          ['stage', t('status'), t('refund_any_stage'), REFUND_STAGES.map((one) => [one, textOf(one)])],
          ['coin', t('choose_coin'), t('refund_any_coin'), asOptions(coins)],
          ['network', t('network'), t('refund_any_network'), networks.map(({ name }) => [name, networkName(name)])],
          usePeriodRow(),
        ]}
        onChange={onChange}
        onClear={onClear}
      />
      <ChosenBar chosen={chosen} onSign={() => sign(chosen.refunds)} />
      <LogView
        {...useLog({
          route: 'GET /dashboard/api/projects/:project/:mode/refunds',
          filters,
          of: 'refunds',
          isOpen: ({ stage }) => stage !== 'completed' && stage !== 'failed',
        })}
        label={t('refunds')}
        columns={useColumns()}
        choice={useChoice(chosen)}
        empty={{ icon: 'refund', title: t('refunds_none_title'), text: t('refunds_none_text') }}
        noMatch={isNarrowed ? t('refunds_no_match') : null}
        shown={search.show}
        onShow={onShow}
        panel={(id, onClose) => (
          <RefundPanel key={id} refund={id} onSign={(refund) => sign([refund])} onClose={onClose} />
        )}
      />
      <Dialogs opened={opened} filters={filters} onOpen={open} onShow={onShow} onSigned={chosen.clear} />
    </Page>
  );
}

function Actions({ onOpen }: { readonly onOpen: (opened: Opened) => void }) {
  const { t } = useLocale('refunds', 'list');
  return (
    <>
      <Button onClick={() => onOpen('export')}>{t('export')}</Button>
      {useActions().includes('request_refunds') ? (
        <Button kind="primary" icon="plus" onClick={() => onOpen('create')}>
          {t('new_refund')}
        </Button>
      ) : null}
    </>
  );
}

/** The most refunds that one transaction pays. */
const MAX_CHOSEN = 50;

/** The refunds chosen to be signed together: all of the network of the first one. */
function useChosen() {
  const [refunds, set] = useState<readonly ListedRefundView[]>([]);
  const [first] = refunds;
  const isIn = ({ id }: ListedRefundView): boolean => refunds.some((one) => one.id === id);
  return {
    refunds,
    /** Whether a refund can be signed together with the chosen ones. */
    isOffered: (refund: ListedRefundView): boolean =>
      isIn(refund) ||
      (refund.is_joinable &&
        refund.can.sign &&
        (first === undefined || first.network === refund.network) &&
        refunds.length < MAX_CHOSEN),
    choose: (refund: ListedRefundView, isChosen: boolean): void =>
      set((before) => {
        const others = before.filter(({ id }) => id !== refund.id);
        return isChosen ? [...others, refund] : others;
      }),
    clear: () => set([]),
  };
}

type Chosen = ReturnType<typeof useChosen>;

/** Only live refunds are signed, and only by people who may choose where money goes. */
function useChoice({ refunds, isOffered, choose }: Chosen): LogChoice<ListedRefundView> | null {
  const { t, coin } = useLocale('refunds');
  const { mode } = useScope();
  if (!useActions().includes('create_refunds') || mode === 'test') return null;
  return {
    title: t('refunds_choose'),
    labelOf: (refund) =>
      isOffered(refund) ? t('refund_choose', { amount: coin(refund.crypto_amount, refund.asset) }) : null,
    chosen: new Set(refunds.map(({ id }) => id)),
    onChoose: choose,
  };
}

function useColumns(): readonly LogColumn<ListedRefundView>[] {
  const { t, fiat, coin } = useLocale('refunds', 'detail', 'list');
  return [
    { key: 'amount', title: t('amount'), cell: ({ crypto_amount: amount, asset }) => coin(amount, asset) },
    {
      key: 'worth',
      title: t('refund_worth'),
      from: 'wide',
      isNumber: true,
      cell: ({ amount, currency }) => fiat(amount, currency),
    },
    { key: 'network', title: t('network'), from: 'wide', cell: ({ network }) => networkName(network) },
    { key: 'stage', title: t('status'), cell: (refund) => <RefundStage refund={refund} /> },
    { key: 'payment', title: t('payment'), from: 'medium', cell: ({ payment }) => payment.name ?? payment.id },
    { key: 'created', title: t('created'), isNumber: true, cell: (refund) => <Ago iso={refund.created_at} /> },
  ];
}

interface DialogsProps {
  readonly opened: Opened | null;
  readonly filters: RefundFilters;
  readonly onShow: (refund: string | undefined) => void;
  readonly onOpen: (opened: Opened | null) => void;
  readonly onSigned: () => void;
}

function Dialogs({ opened, filters, onOpen, onShow, onSigned }: DialogsProps) {
  const { t } = useLocale('refunds', 'list');
  const scope = useScope();
  const { queries } = useDashboard();
  const onClose = (): void => onOpen(null);
  const made = typeof opened === 'object' && opened !== null && 'made' in opened ? opened.made : null;
  useEffect(() => {
    // Waits until the form is gone; otherwise the page would ask about leaving unsaved input.
    if (made === null) return;
    onClose();
    onShow(made);
  }, [made]);
  if (opened === null) return null;
  const changeTo = (next: Opened | null): void => {
    void queries.invalidateQueries({ queryKey: refundsKey(scope) });
    onOpen(next);
  };
  return (
    <Suspense>
      {opened === 'create' ? (
        <NewRefundDialog onDone={(refund) => changeTo({ made: refund })} onClose={onClose} />
      ) : opened === 'export' ? (
        <FileDialog
          name={t('refunds_export')}
          text={t('refunds_export_text')}
          formatLabel={t('export_format')}
          formats={{
            csv: t('export_csv'),
            semicolon: t('refunds_export_semicolon'),
            jsonl: t('export_jsonl'),
          }}
          path="/dashboard/api/projects/:project/:mode/refunds/export"
          params={{ ...scope }}
          filters={filters}
          onClose={onClose}
        />
      ) : 'made' in opened ? null : (
        <SignDialog refunds={opened.sign} onSent={onSigned} onClose={() => changeTo(null)} />
      )}
    </Suspense>
  );
}

/** The refunds chosen to be signed together, and their sum. */
function ChosenBar({ chosen, onSign }: { readonly chosen: Chosen; readonly onSign: () => void }) {
  const { t, coin } = useLocale('refunds');
  const { refunds } = chosen;
  const [first] = refunds;
  if (first === undefined) return null;
  const amounts = refunds.map(({ crypto_amount: amount }) => amount);
  const decimals = Math.max(...amounts.map(decimalsOf));
  const sum = formatUnits(
    amounts.reduce((units, amount) => units + unitsOf(amount, decimals), 0n),
    decimals,
  );
  const { asset, network } = first;
  return (
    <div className={barCss.bar} role="status">
      <span>
        {t('refunds_chosen', { count: refunds.length, amount: coin(sum, asset), network: networkName(network) })}
      </span>
      <Button small kind="primary" onClick={onSign}>
        {t('refund_sign_together')}
      </Button>
      <LinkButton onClick={chosen.clear}>{t('refunds_choose_none')}</LinkButton>
    </div>
  );
}
