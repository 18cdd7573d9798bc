import { lazy, Suspense, useState } from 'react';
import type { CustomerFilters, CustomerView } from '../../../../src/http/dashboard/customers/contract.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { present, readSearch, textUpTo, usePageSearch, type Given, type SearchOf } from '../../search.ts';
import { Page } from '../../shell/page.tsx';
import { Button } from '../../ui/button.tsx';
import { Ago, EmailAddress } from '../../ui/value.tsx';
import { LogFilters } from '../log/log-filters.tsx';
import { LogView, type LogColumn } from '../log/log-view.tsx';
import logCss from '../log/log.module.css';
import { useLog } from '../log/use-log.ts';
import { CustomerPanel, useCount } from './customer-panel.tsx';

const FileDialog = lazy(async () => ({ default: (await import('../log/file-dialog.tsx')).FileDialog }));

/** The beginning of an address, and the chosen customer. */
const RULES = { search: textUpTo(254), show: textUpTo(254) } as const;
export type CustomersSearch = SearchOf<typeof RULES>;

function customersSearch(given: Given): CustomersSearch {
  return readSearch(RULES, given);
}

/** The customers of a project and mode, as payments with an e-mail address tell of them. */
export function CustomersPage() {
  const { t } = useLocale('customers', 'list');
  const { search, isNarrowed, onChange, onClear, onShow } = usePageSearch(customersSearch);
  const filters: CustomerFilters = present({ search: search.search });
  const [isExporting, open] = useState(false);
  return (
    <Page title={t('customers')} hasTimes actions={<Button onClick={() => open(true)}>{t('export')}</Button>}>
      <LogFilters
        search={search}
        isNarrowed={isNarrowed}
        rows={[['search', t('customer_search')]]}
        onChange={onChange}
        onClear={onClear}
      />
      <LogView
        {...useLog({ route: 'GET /dashboard/api/projects/:project/:mode/customers', filters, of: 'customers' })}
        label={t('customers')}
        columns={useColumns()}
        empty={{ icon: 'users', title: t('customers_none_title'), text: t('customers_none_text') }}
        panel={(email, onClose) => <CustomerPanel key={email} email={email} onClose={onClose} />}
        noMatch={isNarrowed ? t('customers_no_match') : null}
        shown={search.show}
        onShow={onShow}
      />
      {isExporting ? <ExportDialog filters={filters} onClose={() => open(false)} /> : null}
    </Page>
  );
}

function useColumns(): readonly LogColumn<CustomerView>[] {
  const { t, fiat } = useLocale('customers');
  const countOf = useCount();
  const sum = (amount: string | null, currency: string) => (amount === null ? '–' : fiat(amount, currency));
  return [
    {
      key: 'email',
      title: t('email'),
      cell: ({ id }) => (
        <span className={logCss.path}>
          <EmailAddress address={id} />
        </span>
      ),
    },
    { key: 'payments', title: t('payments'), from: 'small', isNumber: true, cell: countOf },
    { key: 'value', title: t('customer_value'), isNumber: true, cell: ({ value, currency }) => sum(value, currency) },
    {
      key: 'refunded',
      title: t('customer_refunded'),
      from: 'wide',
      isNumber: true,
      cell: ({ refunded, currency }) => sum(refunded, currency),
    },
    { key: 'last', title: t('customer_last'), isNumber: true, cell: (one) => <Ago iso={one.last_payment_at} /> },
  ];
}

function ExportDialog({ filters, onClose }: { readonly filters: CustomerFilters; readonly onClose: () => void }) {
  const { t } = useLocale('customers', 'list');
  return (
    <Suspense>
      <FileDialog
        name={t('customers_export')}
        text={t('customers_export_text')}
        formatLabel={t('export_format')}
        formats={{ csv: t('export_csv'), semicolon: t('customers_export_semicolon'), jsonl: t('export_jsonl') }}
        path="/dashboard/api/projects/:project/:mode/customers/export"
        params={{ ...useScope() }}
        filters={filters}
        onClose={onClose}
      />
    </Suspense>
  );
}
