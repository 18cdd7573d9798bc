import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { languageName } from '../../../../src/domain/text.ts';
import type { AnswerOf, BodyOf } from '../../../../src/http/dashboard/contract.ts';
import type { InvoiceDefaults } from '../../../../src/http/dashboard/invoice-documents/contract.ts';
import { reads } from '../../api.ts';
import { useChange } from '../../change.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { useScope } from '../../scope.ts';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { EmailField, SelectField, TextArea } from '../../ui/form.tsx';
import { Notice } from '../../ui/notice.tsx';
import { NotLoaded } from '../../ui/placeholder.tsx';
import { useTypedNumber } from '../../use-typed-number.ts';
import { paymentRequestsKey, projectKey } from '../payments/queries.ts';
import { CoinFields, useOffer, type Offer } from './coin-fields.tsx';
import { InvoiceItems, itemFields, newItem, Totals, type TypedItem } from './invoice-items.tsx';

const ISSUE = 'POST /dashboard/api/projects/:project/:mode/invoice-documents';
const LIST = 'GET /dashboard/api/projects/:project/:mode/payment-requests';

interface NewInvoiceProps {
  /** Shows a request on the page. */
  readonly onShow: (request: string) => void;
  readonly onClose: () => void;
}

/** Issues an invoice, and shows its payment request. */
export function NewInvoiceDialog(props: NewInvoiceProps) {
  const { t } = useLocale('payment-requests', 'detail');
  const offer = useOffer();
  const defaults = useQuery(
    reads(['invoice-defaults'], 'GET /dashboard/api/projects/:project/:mode/invoice-documents/defaults', {
      params: useScope(),
    }),
  );
  const isPayable = offer.data === undefined || offer.data.data.length > 0;
  if (defaults.data !== undefined && offer.data !== undefined && isPayable) {
    return <InvoiceForm {...props} defaults={defaults.data} offer={offer.data} />;
  }
  return (
    <Dialog title={t('invoice_new')} onClose={props.onClose}>
      {isPayable ? (
        <NotLoaded query={defaults.data === undefined ? defaults : offer} rows={6} />
      ) : (
        <Notice kind="warning">{t('new_payment_none')}</Notice>
      )}
    </Dialog>
  );
}

/** The typed form of an invoice. */
interface Typed {
  readonly items: readonly TypedItem[];
  readonly currency: string;
  readonly includesVat: boolean;
  readonly buyer: string;
  readonly taxId: string;
  readonly email: string;
  readonly suppliedOn: string;
  readonly dueOn: string;
  readonly note: string;
  readonly language: string;
  /** Null: all that the project offers. */
  readonly coins: readonly string[] | null;
}

/** The day a number of days after another, in the person's zone. */
function useDays() {
  const { localDay } = useLocale();
  return (days: number): string => localDay(new Date(Date.now() + days * 86_400_000).toISOString());
}

interface FormProps extends NewInvoiceProps {
  readonly defaults: InvoiceDefaults;
  readonly offer: Offer;
}

function InvoiceForm({ defaults, offer, onShow, onClose }: FormProps) {
  const { t } = useLocale('payment-requests');
  const day = useDays();
  const [empty] = useState<Typed>(() => ({
    items: [newItem(defaults.vat_rate)],
    currency: defaults.currency,
    includesVat: false,
    buyer: '',
    taxId: '',
    email: '',
    suppliedOn: '',
    dueOn: day(defaults.due_days),
    note: '',
    language: defaults.language,
    coins: null,
  }));
  const [form, setForm] = useState(empty);
  const issue = useIssue(form, (made) => {
    onClose();
    onShow(made.id);
  });
  const parts: PartProps = {
    form,
    defaults,
    offer,
    fault: issue.error,
    set: (change) => setForm((before) => ({ ...before, ...change })),
  };
  return (
    <FormDialog
      action={issue}
      fields={[...Object.values(PARAMS), 'coins', ...form.items.flatMap((_, place) => itemFields(place))]}
      isWide
      isDirty={JSON.stringify(form) !== JSON.stringify(empty)}
      text={t('invoice_new_text')}
      name={t('invoice_new')}
      confirm={t('invoice_issue')}
      onClose={onClose}
    >
      {defaults.seller === null ? <Notice>{t('invoice_no_seller')}</Notice> : null}
      <BuyerFields {...parts} />
      <PriceFields {...parts} />
      <OtherFields {...parts} />
    </FormDialog>
  );
}

interface PartProps {
  readonly form: Typed;
  readonly defaults: InvoiceDefaults;
  readonly offer: Offer;
  readonly fault: unknown;
  readonly set: (change: Partial<Typed>) => void;
}

/** The server's names of the texts that show their own errors, beside those of items. */
const PARAMS = {
  buyer: 'buyer_lines',
  taxId: 'buyer_tax_id',
  email: 'email',
  suppliedOn: 'supplied_on',
  dueOn: 'due_on',
  note: 'note',
} as const;

/** A text of the form, its error and its change, as every kind of field takes them. */
function textOf({ form, fault, set }: PartProps, name: keyof typeof PARAMS) {
  return {
    value: form[name],
    problem: problemOf(fault, PARAMS[name]),
    onValue: (text: string): void => set({ [name]: text }),
  };
}

function BuyerFields(parts: PartProps) {
  const { t } = useLocale('payment-requests');
  return (
    <>
      <TextArea label={t('invoice_buyer')} hint={t('invoice_buyer_hint')} {...textOf(parts, 'buyer')} />
      <Field label={t('invoice_buyer_tax_id')} max={50} autoComplete="off" {...textOf(parts, 'taxId')} />
      <EmailField
        label={t('invoice_email')}
        hint={t('invoice_email_hint')}
        required={false}
        autoComplete="off"
        {...textOf(parts, 'email')}
      />
    </>
  );
}

function PriceFields({ form, defaults, fault, set }: PartProps) {
  const { t } = useLocale('payment-requests', 'list');
  return (
    <>
      <SelectField
        label={t('currency')}
        value={form.currency}
        options={defaults.currencies.map((one) => [one, one] as const)}
        onValue={(currency) => set({ currency })}
      />
      <SelectField
        label={t('invoice_prices')}
        value={form.includesVat ? 'with' : 'without'}
        options={(['without', 'with'] as const).map((one) => [one, t(`invoice_prices_${one}`)])}
        onValue={(value) => set({ includesVat: value === 'with' })}
      />
      <InvoiceItems
        items={form.items}
        currency={form.currency}
        vatRate={defaults.vat_rate}
        fault={fault}
        onItems={(items) => set({ items })}
      />
      <Totals items={form.items} currency={form.currency} includesVat={form.includesVat} />
    </>
  );
}

function OtherFields(parts: PartProps) {
  const { t } = useLocale('payment-requests');
  const { form, defaults, offer, fault, set } = parts;
  return (
    <>
      <Field label={t('invoice_due_on')} type="date" required {...textOf(parts, 'dueOn')} />
      <Field
        label={t('invoice_supplied_on')}
        hint={t('invoice_supplied_on_hint')}
        type="date"
        {...textOf(parts, 'suppliedOn')}
      />
      <TextArea label={t('invoice_note')} {...textOf(parts, 'note')} />
      <SelectField
        label={t('invoice_language')}
        value={form.language}
        options={defaults.languages.map((code) => [code, languageName(code)] as const)}
        onValue={(language) => set({ language })}
      />
      <CoinFields coins={form.coins} offer={offer} fault={fault} onCoins={(coins) => set({ coins })} />
    </>
  );
}

function useIssue(form: Typed, onDone: (made: AnswerOf<typeof ISSUE>) => void) {
  const { t } = useLocale('payment-requests');
  const { unsaved, queries } = useDashboard();
  const { plain } = useTypedNumber();
  const day = useDays();
  const scope = useScope();
  // A form sent again after a lost answer issues no second invoice.
  const [request] = useState(() => crypto.randomUUID());
  return useChange({
    send: (api) => {
      const number = (typed: string): string => plain(typed) ?? typed.trim();
      const body: BodyOf<typeof ISSUE> = {
        request,
        issued_on: day(0),
        supplied_on: form.suppliedOn,
        due_on: form.dueOn,
        buyer_lines: form.buyer,
        buyer_tax_id: form.taxId,
        email: form.email.trim(),
        currency: form.currency,
        prices_include_vat: form.includesVat,
        items: form.items.map(({ description, quantity, price, vatRate }) => ({
          description,
          quantity: number(quantity),
          price: number(price),
          vat_rate: number(vatRate),
        })),
        note: form.note,
        language: form.language,
        ...(form.coins !== null && { coins: [...form.coins] }),
      };
      return api(ISSUE, { params: { ...scope }, body });
    },
    stale: paymentRequestsKey(scope),
    done: ({ number }) => t('invoice_issued', { number }),
    onDone: (made) => {
      unsaved.set(0);
      void queries.invalidateQueries({ queryKey: ['log', ...projectKey(scope), LIST] });
      onDone(made);
    },
  });
}
