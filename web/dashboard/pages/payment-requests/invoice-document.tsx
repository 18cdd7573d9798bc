import type { RequestDetails } from '../../../../src/http/dashboard/payment-requests/contract.ts';
import { urlOf } from '../../api.ts';
import { useChange, type Change } from '../../change.ts';
import { useLocale } from '../../locale.tsx';
import { problemOfForm } from '../../problem.ts';
import { useScope } from '../../scope.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Ago, Badge, EmailAddress, Facts } from '../../ui/value.tsx';
import logCss from '../log/log.module.css';
import { Block } from '../log/log-panel.tsx';
import { paymentRequestsKey } from '../payments/queries.ts';
import css from './payment-requests.module.css';

type Document = NonNullable<RequestDetails['document']>;

interface InvoiceProps {
  readonly request: RequestDetails;
  readonly document: Document;
  /** The query of the request. */
  readonly shows: Exclude<Change<RequestDetails, void>['shows'], undefined>;
}

/** The request's invoice: its files, and its mails to the buyer. */
export function InvoiceBlock({ request, document, shows }: InvoiceProps) {
  const { t, fullDay } = useLocale('payment-requests');
  const scope = useScope();
  const path = '/dashboard/api/projects/:project/:mode/payment-requests/:request/files/:file';
  const href = (file: string): string => urlOf(path, { params: { ...scope, request: request.id, file } });
  return (
    <Block title={t('invoice')}>
      <Facts
        facts={[
          [t('invoice_number'), <bdi>{document.number}</bdi>],
          [t('invoice_due_on'), fullDay(document.due_on)],
          [t('email'), document.email === null ? null : <EmailAddress address={document.email} />],
        ]}
      />
      <div className={logCss.buttons}>
        <a className={buttonClass({ small: true })} href={href('invoice.pdf')} download>
          {t('invoice_pdf')}
        </a>
        {document.has_receipt ? (
          <a className={buttonClass({ small: true })} href={href('receipt.pdf')} download>
            {t('invoice_receipt_pdf')}
          </a>
        ) : null}
        {request.can.mail ? <MailButton request={request} document={document} shows={shows} /> : null}
      </div>
      {document.mail === 'can' || document.mail === 'ended' ? null : (
        <Notice>{t(`invoice_mail_${document.mail}`)}</Notice>
      )}
      <Mails mails={document.mails} />
    </Block>
  );
}

function MailButton({ request, document, shows }: InvoiceProps) {
  const { t } = useLocale('payment-requests');
  const scope = useScope();
  const mail = useChange({
    send: (api) =>
      api('POST /dashboard/api/projects/:project/:mode/payment-requests/:request/mail', {
        params: { ...scope, request: request.id },
      }),
    shows,
    stale: paymentRequestsKey(scope),
  });
  const problem = problemOfForm(mail.error, [], t);
  const isAgain = document.mails.some(({ kind }) => kind === (document.has_receipt ? 'invoice_receipt' : 'invoice'));
  return (
    <>
      <Button small busy={mail.isPending} onClick={() => mail.mutate()}>
        {t(isAgain ? 'invoice_send_again' : 'invoice_send')}
      </Button>
      {problem === null ? null : <Notice>{problem}</Notice>}
    </>
  );
}

const TONES = { waiting: 'open', sent: 'good', not_sent: 'bad' } as const;

function Mails({ mails }: Pick<Document, 'mails'>) {
  const { t } = useLocale('payment-requests');
  if (mails.length === 0) return null;
  return (
    <ul className={css.rows}>
      {mails.map(({ id, kind, state, at }) => (
        <li key={id}>
          <span>{t(`invoice_mail_of_${kind}`)}</span>
          <Badge tone={TONES[state]}>{t(`invoice_mail_is_${state}`)}</Badge>
          <Ago iso={at} />
        </li>
      ))}
    </ul>
  );
}
