import { lazy, Suspense, useState } from 'react';
import { REQUEST_STATUSES } from '../../../../src/domain/payment-request.ts';
import type { RequestFilters, RequestRow } from '../../../../src/http/dashboard/payment-requests/contract.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { present, readSearch, usePageSearch, type Given, type SearchOf } from '../../search.ts';
import { useActions } from '../../session.ts';
import { Page } from '../../shell/page.tsx';
import { Button } from '../../ui/button.tsx';
import { Ago } from '../../ui/value.tsx';
import { LogFilters } from '../log/log-filters.tsx';
import { LogView, type LogColumn } from '../log/log-view.tsx';
import { useLog } from '../log/use-log.ts';
import css from './payment-requests.module.css';
import { RequestPanel, RequestStatusBadge } from './request-panel.tsx';

const NewDialog = lazy(async () => ({ default: (await import('./new-dialogs.tsx')).NewDialog }));

/** The filter and the chosen request in the URL. */
const RULES = { status: REQUEST_STATUSES, show: /^req_[0-9a-z]{26}$/ } as const;
export type PaymentRequestsSearch = SearchOf<typeof RULES>;

function requestsSearch(given: Given): PaymentRequestsSearch {
  return readSearch(RULES, given);
}

/** The stream reports invoices; requests that others create appear within this time. */
const EVERY_MS = 30_000;

/** The payment requests of a project and mode. */
export function PaymentRequestsPage() {
  const { t } = useLocale('payment-requests', 'detail', 'list');
  const { search, isNarrowed, onChange, onClear, onShow } = usePageSearch(requestsSearch);
  const filters: RequestFilters = present({ status: search.status });
  return (
    <Page title={t('payment_requests')} hasTimes actions={<NewRequest onShow={onShow} />}>
      <LogFilters
        rows={[
          ['status', t('status'), t('ask_any_status'), REQUEST_STATUSES.map((one) => [one, t(`ask_status_${one}`)])],
        ]}
        search={search}
        isNarrowed={isNarrowed}
        onChange={onChange}
        onClear={onClear}
      />
      <LogView
        {...useLog({
          route: 'GET /dashboard/api/projects/:project/:mode/payment-requests',
          filters,
          everyMs: EVERY_MS,
          of: 'payment-requests',
          isOpen: ({ status }) => status === 'open',
        })}
        shown={search.show}
        onShow={onShow}
        label={t('payment_requests')}
        columns={useColumns()}
        empty={{ icon: 'invoice', title: t('ask_none_title'), text: t('ask_none_text') }}
        noMatch={isNarrowed ? t('ask_no_match') : null}
        panel={(id, onClose) => <RequestPanel key={id} request={id} onClose={onClose} />}
      />
    </Page>
  );
}

/** The buttons that create a request, alone or with an invoice, for people whose role permits it. */
function NewRequest({ onShow }: { readonly onShow: (request: string | undefined) => void }) {
  const { t } = useLocale('payment-requests');
  const { mode } = useScope();
  const [opened, open] = useState<'request' | 'invoice' | null>(null);
  // An open dialog stays, with its typed text, and says so if the role no longer permits it.
  return (
    <>
      {useActions().includes(`change_${mode}_payments`) ? (
        <>
          <Button icon="invoice" onClick={() => open('invoice')}>
            {t('invoice_new')}
          </Button>
          <Button kind="primary" icon="plus" onClick={() => open('request')}>
            {t('ask_new')}
          </Button>
        </>
      ) : null}
      {opened === null ? null : (
        <Suspense>
          <NewDialog of={opened} onShow={onShow} onClose={() => open(null)} />
        </Suspense>
      )}
    </>
  );
}

function useColumns(): readonly LogColumn<RequestRow>[] {
  const { t, fiat } = useLocale('payment-requests');
  return [
    { key: 'title', title: t('ask_title'), cell: ({ title }) => <bdi className={css.short}>{title}</bdi> },
    { key: 'status', title: t('status'), cell: ({ status }) => <RequestStatusBadge status={status} /> },
    {
      key: 'amount',
      title: t('ask_asked'),
      from: 'small',
      isNumber: true,
      cell: ({ amount, currency }) => (amount === null ? t('ask_typed_short') : fiat(amount, currency)),
    },
    { key: 'paid', title: t('ask_paid'), isNumber: true, cell: ({ paid, currency }) => fiat(paid, currency) },
    {
      key: 'left',
      title: t('ask_left'),
      from: 'wide',
      isNumber: true,
      cell: ({ left, currency }) => (left === null ? '–' : fiat(left, currency)),
    },
    {
      key: 'expires',
      title: t('ask_ends'),
      from: 'medium',
      isNumber: true,
      cell: ({ expires_at: at }) => (at === null ? t('ask_never') : <Ago iso={at} />),
    },
  ];
}
