import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { RequestStatus } from '../../../../src/domain/payment-request.ts';
import type { RequestDetails } from '../../../../src/http/dashboard/payment-requests/contract.ts';
import { reads } from '../../api.ts';
import { useChange } from '../../change.ts';
import { useLocale } from '../../locale.tsx';
import { useScope, type Scope } from '../../scope.ts';
import { ConfirmDialog } from '../../ui/action-dialog.tsx';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Ago, Badge, Facts, Moment, Short, Status } from '../../ui/value.tsx';
import logCss from '../log/log.module.css';
import { Block, CodeBlock, LogPanel, PaymentLink } from '../log/log-panel.tsx';
import { PageLinks } from '../payments/link-dialog.tsx';
import { paymentRequestsKey } from '../payments/queries.ts';
import { InvoiceBlock } from './invoice-document.tsx';
import css from './payment-requests.module.css';

interface RequestPanelProps {
  readonly request: string;
  readonly onClose: () => void;
}

/** How often a mail that waits is looked at. */
const MAIL_MS = 2_000;

function requestQuery(scope: Scope, request: string) {
  const params = { ...scope, request };
  const route = 'GET /dashboard/api/projects/:project/:mode/payment-requests/:request';
  return reads(paymentRequestsKey(scope), route, { params });
}

/** One payment request: its link, sums and invoices. */
export function RequestPanel({ request: id, onClose }: RequestPanelProps) {
  const { t } = useLocale('payment-requests');
  const found = useQuery({
    ...requestQuery(useScope(), id),
    // Nothing tells the page that a mail was sent.
    refetchInterval: ({ state }) =>
      state.data?.document?.mails.some((mail) => mail.state === 'waiting') === true ? MAIL_MS : false,
  });
  return (
    <LogPanel title={t('ask_one')} found={found} onClose={onClose}>
      {(request) => <Request request={request} />}
    </LogPanel>
  );
}

const TONES = { open: 'open', paid: 'good', closed: 'over', expired: 'over' } as const satisfies Readonly<
  Record<RequestStatus, string>
>;

export function RequestStatusBadge({ status }: { readonly status: RequestStatus }) {
  const { t } = useLocale('payment-requests');
  return <Badge tone={TONES[status]}>{t(`ask_status_${status}`)}</Badge>;
}

function Request({ request }: { readonly request: RequestDetails }) {
  const { t } = useLocale('payment-requests');
  const scope = useScope();
  const [isClosing, close] = useState(false);
  return (
    <>
      <p className={css.title}>
        <strong>{request.title}</strong>
        <RequestStatusBadge status={request.status} />
      </p>
      {request.description === null ? null : <p className={css.description}>{request.description}</p>}
      <PageLinks of="request" title={request.title} text={t('ask_link_text')} url={request.url} email="" canPrint />
      {request.document === null ? null : (
        <InvoiceBlock request={request} document={request.document} shows={requestQuery(scope, request.id)} />
      )}
      <Sums request={request} />
      <RequestFacts request={request} />
      <Invoices request={request} />
      {request.status === 'open' ? <ButtonCode url={request.url} /> : null}
      {request.can.close ? (
        <div className={logCss.buttons}>
          <Button small onClick={() => close(true)}>
            {t('ask_close')}
          </Button>
        </div>
      ) : null}
      {isClosing ? <CloseDialog request={request.id} onClose={() => close(false)} /> : null}
    </>
  );
}

function Sums({ request }: { readonly request: RequestDetails }) {
  const { t, fiat } = useLocale('payment-requests');
  const { amount, currency, paid, pending, refunded, left } = request;
  const shown = (text: string) => fiat(text, currency);
  return (
    <Facts
      facts={[
        [t('ask_asked'), amount === null ? <Typed request={request} /> : shown(amount)],
        [t('ask_paid'), shown(paid)],
        [t('ask_pending'), Number(pending) === 0 ? null : shown(pending)],
        [t('ask_refunded'), Number(refunded) === 0 ? null : shown(refunded)],
        [t('ask_left'), left === null ? null : shown(left)],
      ]}
    />
  );
}

/** The bounds of an amount that the payer types. */
function Typed({ request }: { readonly request: RequestDetails }) {
  const { t, fiat } = useLocale('payment-requests');
  const { currency, min_amount: min, max_amount: max } = request;
  const [least, most] = [min === null ? null : fiat(min, currency), max === null ? null : fiat(max, currency)] as const;
  if (least !== null && most !== null) return t('ask_typed_within', { least, most });
  if (least !== null) return t('ask_typed_from', { least });
  return most === null ? t('ask_typed') : t('ask_typed_to', { most });
}

function RequestFacts({ request }: { readonly request: RequestDetails }) {
  const { t, number } = useLocale('payment-requests');
  const { max_payments: max, payments, coins, ask } = request;
  const asked = (['email', 'name', 'note'] as const).filter((one) => ask[one]).map((one) => t(`ask_for_${one}`));
  const often = max === 1 ? t('ask_once') : max === null ? t('ask_always') : t('ask_times', { count: max });
  return (
    <Facts
      facts={[
        [t('ask_often'), often],
        [t('ask_payments'), max === 1 ? null : number(payments)],
        [t('ask_reference'), request.reference],
        [t('ask_coins'), coins === null ? null : coins.join(', ')],
        [t('ask_payer_data'), asked.length === 0 ? null : asked.join(', ')],
        [t('id'), <Short text={request.id} what={t('id')} />],
        [t('created'), <Moment iso={request.created_at} />],
        [t('ask_ends'), request.expires_at === null ? t('ask_never') : <Moment iso={request.expires_at} />],
        [t('ask_ended'), request.ended_at === null ? null : <Moment iso={request.ended_at} />],
      ]}
    />
  );
}

function Invoices({ request: { invoices, has_more_invoices: hasMore } }: { readonly request: RequestDetails }) {
  const { t, fiat } = useLocale('payment-requests');
  return (
    <Block title={t('ask_invoices')}>
      {invoices.length === 0 ? <p className={logCss.soft}>{t('ask_no_invoices')}</p> : null}
      <ul className={css.rows}>
        {invoices.map((invoice) => (
          <li key={invoice.id}>
            <PaymentLink payment={invoice.id} name={fiat(invoice.amount, invoice.currency)} />
            <Status status={invoice.status} exception={invoice.exception} />
            {invoice.customer_email === null ? null : <bdi>{invoice.customer_email}</bdi>}
            <Ago iso={invoice.created_at} />
          </li>
        ))}
      </ul>
      {hasMore ? <Notice>{t('ask_more_invoices', { count: invoices.length })}</Notice> : null}
    </Block>
  );
}

/** The code of a button for the shop's own pages; without its script it is a link. */
function ButtonCode({ url }: { readonly url: string }) {
  const { t } = useLocale('payment-requests');
  const code = `<a class="cointill-button" href="${url}" data-cointill>${t('ask_button_label')}</a>
<script src="${new URL('/button.js', url).href}" async></script>`;
  return (
    <>
      <CodeBlock title={t('ask_button')} text={code} what={t('ask_button_code')} />
      <p className={logCss.soft}>{t('ask_button_text')}</p>
    </>
  );
}

function CloseDialog({ request, onClose }: { readonly request: string; readonly onClose: () => void }) {
  const { t } = useLocale('payment-requests');
  const scope = useScope();
  const close = useChange({
    send: (api) =>
      api('POST /dashboard/api/projects/:project/:mode/payment-requests/:request/close', {
        params: { ...scope, request },
      }),
    shows: requestQuery(scope, request),
    stale: paymentRequestsKey(scope),
    done: t('ask_closed'),
    onDone: onClose,
  });
  return (
    <ConfirmDialog name={t('ask_close')} text={t('ask_close_text')} isDangerous action={close} onClose={onClose} />
  );
}
