import { useState } from 'react';
import type { AnswerOf, BodyOf } from '../../../../src/http/dashboard/contract.ts';
import { useChange } from '../../change.ts';
import { useDashboard } from '../../dashboard.ts';
import { startOfDay } from '../../formats.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { useScope } from '../../scope.ts';
import { present } from '../../search.ts';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { TextArea } from '../../ui/form.tsx';
import { Notice } from '../../ui/notice.tsx';
import { NotLoaded } from '../../ui/placeholder.tsx';
import { useTypedNumber } from '../../use-typed-number.ts';
import { LinkDialog } from '../payments/link-dialog.tsx';
import { paymentRequestsKey, projectKey } from '../payments/queries.ts';
import { useOffer } from './coin-fields.tsx';
import { AmountFields, PayerFields, TimesFields, type FieldsProps, type RequestForm } from './request-fields.tsx';

const CREATE = 'POST /dashboard/api/projects/:project/:mode/payment-requests';
type Body = BodyOf<typeof CREATE>;

const EMPTY: RequestForm = {
  title: '',
  isTyped: false,
  amount: '',
  min: '',
  max: '',
  currency: '',
  description: '',
  reference: '',
  often: 'once',
  times: '',
  lastDay: '',
  coins: null,
  ask: [],
};

interface NewRequestProps {
  /** Shows a request on the page. */
  readonly onShow: (request: string) => void;
  readonly onClose: () => void;
}

/** Creates a payment request, and shows its link. */
export function NewRequestDialog({ onShow, onClose }: NewRequestProps) {
  const { t } = useLocale('payment-requests', 'list', 'detail');
  const [form, setForm] = useState(EMPTY);
  const { offer, create } = useCreate(form);
  const { data } = offer;
  if (create.data !== undefined) {
    return <Created made={create.data} title={form.title.trim()} onShow={onShow} onClose={onClose} />;
  }
  if (data === undefined || data.data.length === 0) {
    return (
      <Dialog title={t('ask_new')} onClose={onClose}>
        {data === undefined ? (
          <NotLoaded query={offer} rows={4} />
        ) : (
          <Notice kind="warning">{t('new_payment_none')}</Notice>
        )}
      </Dialog>
    );
  }
  const props: FieldsProps = {
    form,
    offer: data,
    fault: create.error,
    onChange: (change) => setForm((before) => ({ ...before, ...change })),
  };
  return (
    <FormDialog
      name={t('ask_new')}
      confirm={t('ask_create')}
      text={t('ask_new_text')}
      isDirty={JSON.stringify(form) !== JSON.stringify(EMPTY)}
      action={create}
      fields={FIELDS}
      onClose={onClose}
    >
      <Field
        label={t('ask_title')}
        value={form.title}
        max={200}
        required
        autoComplete="off"
        problem={problemOf(create.error, 'title')}
        onValue={(title) => props.onChange({ title })}
      />
      <AmountFields {...props} />
      <TimesFields {...props} />
      <TextArea
        label={t('ask_description')}
        value={form.description}
        problem={problemOf(create.error, 'description')}
        onValue={(description) => props.onChange({ description })}
      />
      <Field
        label={t('ask_reference_optional')}
        hint={t('ask_reference_hint')}
        value={form.reference}
        max={255}
        autoComplete="off"
        problem={problemOf(create.error, 'reference')}
        onValue={(reference) => props.onChange({ reference })}
      />
      <PayerFields {...props} />
    </FormDialog>
  );
}

/** The fields that show their own errors, by the names of the API. */
const FIELDS = [
  'title',
  'amount',
  'min_amount',
  'max_amount',
  'description',
  'reference',
  'max_payments',
  'expires_at',
  'coins',
] as const;

interface CreatedProps extends NewRequestProps {
  readonly made: AnswerOf<typeof CREATE>;
  readonly title: string;
}

function Created({ made, title, onShow, onClose }: CreatedProps) {
  const { t } = useLocale('payment-requests');
  const show = (): void => {
    onClose();
    onShow(made.id);
  };
  return (
    <LinkDialog of="request" url={made.url} title={title} text={t('ask_link_text')} email="" canPrint onClose={onClose}>
      <Button small onClick={show}>
        {t('ask_view')}
      </Button>
    </LinkDialog>
  );
}

function useCreate(form: RequestForm) {
  const { unsaved, queries } = useDashboard();
  const { plain } = useTypedNumber();
  const scope = useScope();
  const offer = useOffer();
  // A form sent again after a lost answer creates no second request.
  const [request] = useState(() => crypto.randomUUID());
  const amountOf = (typed: string): string | undefined =>
    typed.trim() === '' ? undefined : (plain(typed) ?? typed.trim());
  const currency = form.currency === '' ? (offer.data?.defaults.currency ?? 'USD') : form.currency;
  const create = useChange({
    send: (api) => {
      const { isTyped, amount, min, max } = form;
      const amounts = isTyped ? { min_amount: amountOf(min), max_amount: amountOf(max) } : { amount: amountOf(amount) };
      const body = { request, currency, ...amounts, ...othersOf(form) };
      return api(CREATE, { params: { ...scope }, body: present(body) as Body });
    },
    stale: paymentRequestsKey(scope),
    onDone: () => {
      unsaved.set(0);
      void queries.invalidateQueries({ queryKey: ['log', ...projectKey(scope), LIST] });
    },
  });
  return { offer, create };
}

const LIST = 'GET /dashboard/api/projects/:project/:mode/payment-requests';

function othersOf({ title, description, reference, often, times, lastDay, coins, ask }: RequestForm) {
  return {
    title: title.trim(),
    description: textOf(description),
    reference: textOf(reference),
    max_payments: often === 'once' ? 1 : often === 'always' ? null : Number(times),
    // The whole of the last day, in the person's time zone.
    expires_at: startOfDay(lastDay, 1)?.toISOString(),
    coins: coins === null ? undefined : [...coins],
    ask: { email: ask.includes('email'), name: ask.includes('name'), note: ask.includes('note') },
  };
}

const textOf = (text: string): string | undefined => (text.trim() === '' ? undefined : text.trim());
