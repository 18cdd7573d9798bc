import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { PAYMENT_FILTER_NAMES } from '../../../../src/domain/payment-filters.ts';
import { usePageSearch, type SearchChange } from '../../search.ts';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../shell/page.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { classNames } from '../../ui/class-names.ts';
import { Empty, Loaded } from '../../ui/placeholder.tsx';
import { isPlainKey, usePanelFocus, type PanelFocus } from '../../ui/keys.ts';
import { chooseColumns, chosenColumns, columnsOf, USUAL_LIST_COLUMNS, type ListColumn } from './columns.ts';
import { Arrived } from '../log/arrived.tsx';
import { Filters } from './filters.tsx';
import { ListFoot } from './list-foot.tsx';
import { NewPayment, NoPaymentsYet } from './new-payment.tsx';
import { PaymentTable, None } from './payment-table.tsx';
import css from './payments-page.module.css';
import { foundQuery, paymentsQuery } from './list-queries.ts';
import { arrivedKey } from './queries.ts';
import { isNarrowed, paymentsSearch, viewQuery, type PaymentsSearch } from './search.ts';
import { FoundCount, type FoundProps } from './found-count.tsx';
import { SelectionPart } from './selection/selection-part.tsx';
import { useSelection, type Selection } from '../selection/use-selection.ts';
import { ViewTabs, type ViewAction } from './views.tsx';
import type { PaymentRow } from '../../../../src/http/dashboard/payments/contract.ts';
import { Coin, Ago } from '../../ui/value.tsx';
import { PaymentPanel, useFullPage } from './payment/payment-page.tsx';
import { useScope } from '../../scope.ts';

const FilterDialog = lazy(async () => ({ default: (await import('./filter-dialog.tsx')).FilterDialog }));
const ColumnsDialog = lazy(async () => ({ default: (await import('./list-dialogs.tsx')).ColumnsDialog }));
const ExportDialog = lazy(async () => ({ default: (await import('./export-dialog.tsx')).ExportDialog }));
const ViewDialog = lazy(async () => ({ default: (await import('./list-dialogs.tsx')).ViewDialog }));

/** The payments of a project and mode, with the filters from the URL. */
export function PaymentsPage() {
  const { t } = useLocale('list');
  const page = usePageSearch(paymentsSearch);
  const { search, onChange, onShow } = page;
  const { show, columns: _columns, ...filters } = search;
  const panel = usePanelFocus(show, onShow);
  useFullPage(show);
  const unread = PAYMENT_FILTER_NAMES.filter((name) => page.unread.includes(name));
  const [opened, open] = useState<Opened | null>(null);
  const selection = useSelection(viewQuery(filters));
  useExportKey(() => open({ kind: 'export' }));
  const close = (): void => open(null);
  const columns = columnsOf(search.columns) ?? chosenColumns();
  return (
    <Page
      title={t('payments')}
      hasTimes
      actions={
        <>
          <Button onClick={() => open({ kind: 'columns' })}>{t('columns')}</Button>
          <Button onClick={() => open({ kind: 'export' })}>{t('export')}</Button>
          <NewPayment />
        </>
      }
    >
      <ViewTabs search={search} onAction={(action) => open({ kind: 'view', action })} />
      {unread.length === 0 ? null : (
        <Notice kind="warning">{t('filters_unread', { filters: unread.join(', ') })}</Notice>
      )}
      <Filters page={page} onMore={() => open({ kind: 'filter' })} />
      <SelectionPart selection={selection} search={search} onExport={() => open({ kind: 'export', chosen: true })} />
      <div className={classNames(css.split, show !== undefined && css.withPanel)}>
        <Card flush>
          <List {...{ search, columns, selection }} onShow={panel.open} />
        </Card>
        {show === undefined ? null : <PaymentPanel key={show} payment={show} onClose={panel.close} />}
      </div>
      <Suspense>
        {opened === null ? null : (
          <ListDialog {...{ opened, search, columns, onChange }} chosen={selection.chosen} onClose={close} />
        )}
      </Suspense>
    </Page>
  );
}

/** A dialog over the list. */
type Opened =
  | { readonly kind: 'filter' | 'columns' }
  /** `chosen`: of the chosen payments alone. */
  | { readonly kind: 'export'; readonly chosen?: boolean }
  | { readonly kind: 'view'; readonly action: ViewAction };

interface ListDialogProps {
  readonly opened: Opened;
  readonly search: PaymentsSearch;
  readonly columns: readonly ListColumn[];
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (change: SearchChange, replace?: boolean) => void;
  readonly onClose: () => void;
}

function ListDialog({ opened, search, columns, chosen, onChange, onClose }: ListDialogProps) {
  switch (opened.kind) {
    case 'filter':
      return (
        <FilterDialog
          search={search}
          onFilter={(change) => {
            onChange(change, false);
            onClose();
          }}
          onClose={onClose}
        />
      );
    case 'columns':
      return (
        <ColumnsDialog
          columns={columns}
          onColumns={(chosen) => {
            const isUsual = chosen.join() === USUAL_LIST_COLUMNS.join();
            chooseColumns(chosen);
            onChange({ columns: isUsual ? undefined : chosen.join(',') }, false);
            onClose();
          }}
          onClose={onClose}
        />
      );
    case 'export':
      return <ExportDialog search={search} chosen={opened.chosen === true ? [...chosen] : null} onClose={onClose} />;
    case 'view':
      return (
        <ViewDialog
          action={opened.action}
          search={search}
          onView={(id) => onChange({ view: id ?? undefined })}
          onClose={onClose}
        />
      );
  }
}

/** `e` opens the export, like the keys of the shell. */
function useExportKey(onExport: () => void): void {
  const latest = useRef(onExport);
  latest.current = onExport;
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key !== 'e' || !isPlainKey(event) || document.querySelector('[role=dialog]') !== null) return;
      event.preventDefault();
      latest.current();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

interface ListProps {
  readonly search: PaymentsSearch;
  readonly columns: readonly ListColumn[];
  readonly selection: Selection;
  readonly onShow: PanelFocus['open'];
}

function List({ search, columns, selection, onShow }: ListProps) {
  const { t } = useLocale('list');
  const { api, queries } = useDashboard();
  const scope = useScope();
  const list = useInfiniteQuery(paymentsQuery(api, scope, search));
  const { data: arrived } = useQuery<readonly string[]>({
    queryKey: arrivedKey(scope),
    queryFn: () => [],
    initialData: [],
    staleTime: Infinity,
  });
  const refresh = (): void => {
    queries.setQueryData(arrivedKey(scope), []);
    void list.refetch();
    void queries.invalidateQueries({ queryKey: foundQuery(api, scope, search).queryKey });
  };
  return (
    <Loaded query={list} rows={10}>
      {({ pages }) => (
        <>
          <Arrived
            count={arrived.length}
            text={isNarrowed(search) ? t('refresh_list') : t('new_payments', { count: arrived.length })}
            onShow={refresh}
          />
          {pages[0]?.data.length === 0 ? (
            <NoPayments scope={scope} search={search} />
          ) : (
            <>
              <FoundCount scope={scope} search={search} />
              <PaymentTable
                label={t('payments')}
                payments={pages.flatMap(({ data }) => data)}
                columns={columns}
                extra={(column, payment) => <ExtraCell column={column} payment={payment} />}
                selection={selection}
                shown={search.show}
                onShow={onShow}
              />
              <ListFoot list={list} more={t('show_more')} end={t('list_end')} />
            </>
          )}
        </>
      )}
    </Loaded>
  );
}

function NoPayments({ scope, search: { search, ...others } }: FoundProps) {
  const { t } = useLocale('list');
  if (search !== undefined || isNarrowed(others)) {
    const texts = search === undefined ? [t('no_matches_text')] : [t('search_none_text', { search })];
    const text = search !== undefined && isNarrowed(others) ? [...texts, t('search_none_filters')] : texts;
    return (
      <Empty icon="filter" title={t('no_matches_title')} text={text.join(' ')}>
        <Link className={buttonClass()} to="/projects/$project/$mode/payments" params={scope} search={{}}>
          {t('clear_filters')}
        </Link>
      </Empty>
    );
  }
  return (
    <NoPaymentsYet>
      <a className={buttonClass()} href="/docs">
        {t('read_guide')}
      </a>
    </NoPaymentsYet>
  );
}

interface ExtraCellProps {
  readonly payment: PaymentRow;
  readonly column: ListColumn;
}

/** A column that people can add to the default ones. */
export function ExtraCell({ payment, column }: ExtraCellProps) {
  const { t } = useLocale('list');
  const { crypto, transaction_number: number } = payment;
  switch (column) {
    case 'received':
      return crypto === null ? <None /> : <Coin amount={crypto.received} asset={crypto.asset} />;
    case 'description':
      return payment.description ?? <None />;
    case 'number':
      return number ?? <None />;
    case 'id':
      return <code title={payment.id}>{payment.id}</code>;
    case 'api':
      return t(`api_${payment.api}`);
    case 'completed':
      return payment.completed_at === null ? <None /> : <Ago iso={payment.completed_at} />;
    case 'expires':
      return <Ago iso={payment.expires_at} />;
    default:
      return null;
  }
}
