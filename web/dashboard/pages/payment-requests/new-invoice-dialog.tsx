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
import { Choices } from '../../ui/choices.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { EmailField, SelectField, TextArea } from '../../ui/form.tsx';
import { Notice } from '../../ui/notice.tsx';
import { NotLoaded } from '../../ui/placeholder.tsx';
import { useTypedNumber } from '../../use-typed-number.ts';
import { paymentRequestsKey, projectKey } from '../payments/queries.ts';
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
  const { t } = useLocale('invoices');
  const defaults = useQuery(
    reads(['invoice-defaults'], 'GET /dashboard/api/projects/:project/:mode/invoice-documents/defaults', {
      params: useScope(),
    }),
  );
  if (defaults.data !== undefined) return <InvoiceForm {...props} defaults={defaults.data} />;
  return (
    <Dialog title={t('invoice_new')} onClose={props.onClose}>
      <NotLoaded query={defaults} rows={6} />
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
}

/** The day a number of days after another, in the person's zone. */
function useDays() {
  const { localDay } = useLocale();
  return (days: number): string => localDay(new Date(Date.now() + days * 86_400_000).toISOString());
}

function InvoiceForm({ defaults, onShow, onClose }: NewInvoiceProps & { readonly defaults: InvoiceDefaults }) {
  const { t } = useLocale('invoices', 'list');
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
  }));
  const [form, setForm] = useState(empty);
  const set = (change: Partial<Typed>): void => setForm((before) => ({ ...before, ...change }));
  const issue = useIssue(form, (made) => {
    onClose();
    onShow(made.id);
  });
  const problem = (field: string): string | null => problemOf(issue.error, field);
  return (
    <FormDialog
      name={t('invoice_new')}
      confirm={t('invoice_issue')}
      text={t('invoice_new_text')}
      isWide
      isDirty={JSON.stringify(form) !== JSON.stringify(empty)}
      action={issue}
      fields={[...FIELDS, ...form.items.flatMap((_, place) => itemFields(place))]}
      onClose={onClose}
    >
      {defaults.seller === null ? <Notice>{t('invoice_no_seller')}</Notice> : null}
      <TextArea
        label={t('invoice_buyer')}
        hint={t('invoice_buyer_hint')}
        rows={3}
        value={form.buyer}
        problem={problem('buyer_lines')}
        onValue={(buyer) => set({ buyer })}
      />
      <Field
        label={t('invoice_buyer_tax_id')}
        value={form.taxId}
        max={50}
        autoComplete="off"
        problem={problem('buyer_tax_id')}
        onValue={(taxId) => set({ taxId })}
      />
      <EmailField
        label={t('invoice_email')}
        hint={t('invoice_email_hint')}
        required={false}
        autoComplete="off"
        value={form.email}
        problem={problem('email')}
        onValue={(email) => set({ email })}
      />
      <SelectField
        label={t('currency')}
        value={form.currency}
        options={defaults.currencies.map((one) => [one, one] as const)}
        onValue={(currency) => set({ currency })}
      />
      <Choices
        label={t('invoice_prices')}
        value={form.includesVat ? 'with' : 'without'}
        options={[
          { value: 'without', text: t('invoice_prices_without') },
          { value: 'with', text: t('invoice_prices_with') },
        ]}
        onValue={(value) => set({ includesVat: value === 'with' })}
      />
      <InvoiceItems
        items={form.items}
        vatRate={defaults.vat_rate}
        fault={issue.error}
        onItems={(items) => set({ items })}
      />
      <Totals items={form.items} currency={form.currency} includesVat={form.includesVat} />
      <Field
        label={t('invoice_due_on')}
        type="date"
        required
        value={form.dueOn}
        problem={problem('due_on')}
        onValue={(dueOn) => set({ dueOn })}
      />
      <Field
        label={t('invoice_supplied_on')}
        hint={t('invoice_supplied_on_hint')}
        type="date"
        value={form.suppliedOn}
        problem={problem('supplied_on')}
        onValue={(suppliedOn) => set({ suppliedOn })}
      />
      <TextArea
        label={t('invoice_note')}
        value={form.note}
        problem={problem('note')}
        onValue={(note) => set({ note })}
      />
      <SelectField
        label={t('invoice_language')}
        value={form.language}
        options={defaults.languages.map((code) => [code, languageName(code)] as const)}
        onValue={(language) => set({ language })}
      />
    </FormDialog>
  );
}

/** The fields that show their own errors, by the server's names, beside those of items. */
const FIELDS = ['buyer_lines', 'buyer_tax_id', 'email', 'due_on', 'supplied_on', 'note'];

function useIssue(form: Typed, onDone: (made: AnswerOf<typeof ISSUE>) => void) {
  const { t } = useLocale('invoices');
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
