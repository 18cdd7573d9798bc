import { lazy, Suspense, useEffect, useState } from 'react';
import type { ListedRefundView } from '../../../../src/http/dashboard/refunds/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { useActions } from '../../session.ts';
import { Page } from '../../shell/page.tsx';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Ago } from '../../ui/value.tsx';
import type { LogChoice, LogColumn } from '../log/log-table.tsx';
import { LogView } from '../log/log-view.tsx';
import { useLogSearch, useLog } from '../log/use-log.ts';
import { networkName } from '../../formats.ts';
import { refundsKey } from '../payments/queries.ts';
import { refundList, filtersOf, refundsSearch, type RefundsSearch } from './queries.ts';
import { RefundFilterRow } from './refund-filters.tsx';
import { RefundPanel, RefundStage } from './refund-panel.tsx';
import { LazySignDialog } from './sign/lazy-sign-dialog.tsx';
import { useChosen, type ChosenRefunds } from './use-chosen.ts';
import { formatUnits, unitsOf, decimalsOf } from '../../decimal.ts';
import css from './refunds.module.css';

const NewRefundDialog = lazy(async () => ({ default: (await import('./new-refund-dialog.tsx')).NewRefundDialog }));
const FileDialog = lazy(async () => ({ default: (await import('../log/file-dialog.tsx')).FileDialog }));

/** A dialog over the page, or what one of them made. */
type Opened =
  | 'create'
  | 'export'
  | { readonly sign: readonly ListedRefundView[] }
  /** The id of a new refund. */
  | { readonly made: string };

/** The refunds of a project and mode. */
export function RefundsPage() {
  const { t } = useLocale('refunds', 'detail', 'list');
  const { search, onChange, onShow } = useLogSearch(refundsSearch);
  const filters = filtersOf(search);
  const isNarrowed = Object.keys(filters).length > 0;
  const chosen = useChosen();
  const choice = useChoice(chosen);
  const [opened, open] = useState<Opened | null>(null);
  const sign = (refunds: readonly ListedRefundView[]): void => open({ sign: refunds });
  return (
    <Page title={t('refunds')} hasTimes actions={<Actions onOpen={open} />}>
      <RefundFilterRow search={search} isNarrowed={isNarrowed} onChange={onChange} />
      <ChosenBar chosen={chosen} onSign={() => sign(chosen.refunds)} />
      <LogView
        {...useLog((api, scope) => refundList(api, scope, filters))}
        label={t('refunds')}
        columns={useColumns()}
        {...(choice !== null && { choice })}
        empty={{ icon: 'refund', title: t('refunds_none_title'), text: t('refunds_none_text') }}
        noMatch={isNarrowed ? t('refunds_no_match') : null}
        shown={search.show}
        onShow={onShow}
        panel={(id, onClose) => (
          <RefundPanel key={id} refund={id} onSign={(refund) => sign([refund])} onClose={onClose} />
        )}
      />
      <Dialogs opened={opened} search={search} onOpen={open} onShow={onShow} onSigned={chosen.clear} />
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

/** Only live refunds are signed, and only by those who may say where money goes. */
function useChoice({ refunds, isOffered, choose }: ChosenRefunds): LogChoice<ListedRefundView> | null {
  const { t } = useLocale('refunds');
  const { mode } = useScope();
  if (!useActions().includes('create_refunds') || mode === 'test') return null;
  return {
    title: t('refunds_choose'),
    labelOf: (refund) =>
      isOffered(refund) ? t('refund_choose', { amount: `${refund.crypto_amount} ${refund.asset}` }) : null,
    chosen: new Set(refunds.map(({ id }) => id)),
    onChoose: choose,
  };
}

function useColumns(): readonly LogColumn<ListedRefundView>[] {
  const { t, fiat } = useLocale('refunds', 'detail', 'list');
  return [
    {
      key: 'amount',
      title: t('amount'),
      cell: (refund) => (
        <>
          {refund.crypto_amount} {refund.asset}
        </>
      ),
    },
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
  readonly search: RefundsSearch;
  readonly onShow: (refund: string | undefined) => void;
  readonly onOpen: (opened: Opened | null) => void;
  readonly onSigned: () => void;
}

function Dialogs({ opened, search, onOpen, onShow, onSigned }: DialogsProps) {
  const { t } = useLocale('refunds', 'list');
  const scope = useScope();
  const { queries } = useDashboard();
  const refresh = (): void => void queries.invalidateQueries({ queryKey: refundsKey(scope) });
  const onClose = (): void => onOpen(null);
  const made = typeof opened === 'object' && opened !== null && 'made' in opened ? opened.made : null;
  useEffect(() => {
    // Not before the form is gone, which would be left without saving.
    if (made === null) return;
    onClose();
    onShow(made);
  }, [made]);
  if (opened === null) return null;
  const created = (refund: string): void => {
    refresh();
    onOpen({ made: refund });
  };
  const signed = (): void => {
    refresh();
    onClose();
  };
  return (
    <Suspense>
      {opened === 'create' ? (
        <NewRefundDialog onDone={created} onClose={onClose} />
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
          filters={filtersOf(search)}
          onClose={onClose}
        />
      ) : 'made' in opened ? null : (
        <LazySignDialog refunds={opened.sign} onSent={onSigned} onClose={signed} />
      )}
    </Suspense>
  );
}

/** The refunds chosen to be signed together, and their sum. */
function ChosenBar({ chosen, onSign }: { readonly chosen: ChosenRefunds; readonly onSign: () => void }) {
  const { t } = useLocale('refunds');
  const { refunds } = chosen;
  const [first] = refunds;
  if (first === undefined) return null;
  const amounts = refunds.map(({ crypto_amount: amount }) => amount);
  const decimals = Math.max(...amounts.map(decimalsOf));
  const sum = formatUnits(
    amounts.reduce((units, amount) => units + unitsOf(amount, decimals), 0n),
    decimals,
  );
  return (
    <div className={css.chosen} role="status">
      <span>
        {t('refunds_chosen', {
          count: refunds.length,
          amount: sum,
          asset: first.asset,
          network: networkName(first.network),
        })}
      </span>
      <Button small kind="primary" onClick={onSign}>
        {t('refund_sign_together')}
      </Button>
      <LinkButton onClick={chosen.clear}>{t('refunds_choose_none')}</LinkButton>
    </div>
  );
}
