import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { CustomerDataView } from '../../../../src/http/dashboard/settings/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf, problemOfForm } from '../../problem.ts';
import { Choices } from '../../ui/choices.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { EmailField, Form } from '../../ui/form.tsx';
import { Notice } from '../../ui/notice.tsx';
import css from './settings.module.css';
import { useScope } from '../../scope.ts';

type Whose = 'one' | 'old';

const COUNT = 'POST /dashboard/api/projects/:project/settings/customer-data/count';
const DELETE = 'POST /dashboard/api/projects/:project/settings/customer-data/delete';

/**
 * Counts the data that would be deleted, and deletes it after confirmation. Closing it stops after the batch under way.
 */
export function CustomersDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLocale('settings');
  const [whose, setWhose] = useState<Whose>('one');
  const [email, setEmail] = useState('');
  const [days, setDays] = useState('365');
  const { count, remove, cleared } = useDeletion(
    whose === 'one' ? { email } : { older_than_days: Number(days) },
    onClose,
  );
  const isCounted = count.data !== undefined && count.data.counts.payments > 0;
  const change = (set: () => void): void => {
    // The count was for other customers.
    count.reset();
    remove.reset();
    set();
  };
  const fault = remove.error ?? count.error;
  return (
    <Dialog title={t('settings_customers')} description={t('settings_customers_text')} onClose={onClose}>
      <Form isDirty={email !== ''} fault={fault} onSubmit={() => (isCounted ? remove.mutate() : count.mutate())}>
        <p>{t('settings_customers_long')}</p>
        <Choices
          label={t('settings_customers_whose')}
          value={whose}
          options={[
            { value: 'one', text: t('settings_customers_one') },
            { value: 'old', text: t('settings_customers_old'), detail: t('settings_customers_old_detail') },
          ]}
          onValue={(value) => change(() => setWhose(value))}
        />
        {whose === 'one' ? (
          <EmailField
            label={t('settings_customers_email')}
            hint={t('settings_customers_email_hint')}
            value={email}
            autoComplete="off"
            problem={problemOf(fault, 'email')}
            onValue={(text) => change(() => setEmail(text))}
          />
        ) : (
          <Field
            label={t('settings_customers_days')}
            type="number"
            min={1}
            max={10}
            step={1}
            required
            value={days}
            problem={problemOf(fault, 'older_than_days')}
            onValue={(text) => change(() => setDays(text))}
          />
        )}
        {count.data === undefined ? null : <Counts {...count.data} />}
        {cleared === null ? null : <p role="status">{t('settings_customers_progress', { count: cleared })}</p>}
        <DialogActions
          confirm={isCounted ? t('settings_customers') : t('settings_customers_count')}
          isDangerous={isCounted}
          isBusy={count.isPending || remove.isPending}
          problem={problemOfForm(fault, ['email', 'older_than_days'], t)}
          onCancel={onClose}
        />
      </Form>
    </Dialog>
  );
}

type Request = { readonly email: string } | { readonly older_than_days: number };

function useDeletion(request: Request, onDone: () => void) {
  const { t, number } = useLocale('settings');
  const { api, queries, toast } = useDashboard();
  const { project } = useScope();
  const params = { project };
  const [cleared, setCleared] = useState<number | null>(null);
  const isGone = useRef(false);
  useEffect(() => () => void (isGone.current = true), []);
  const count = useMutation({ mutationFn: () => api(COUNT, { params, body: request }) });
  const remove = useMutation({
    mutationFn: async () => {
      const removed = { payments: 0, invoices: 0 };
      for (let after: string | null = null; ;) {
        const answer: { counts: CustomerDataView; next: string | null } = await api(DELETE, {
          params,
          body: { ...request, after },
        });
        removed.payments += answer.counts.payments;
        removed.invoices += answer.counts.invoices;
        after = answer.next;
        setCleared(removed.payments);
        if (after === null || isGone.current) return removed;
      }
    },
    onSuccess: ({ payments, invoices }) => {
      void queries.invalidateQueries();
      toast(t('settings_customers_done', { payments: number(payments), invoices: number(invoices) }));
      onDone();
    },
  });
  return { count, remove, cleared: cleared === null ? null : number(cleared) };
}

interface Counted {
  readonly counts: CustomerDataView;
  readonly has_more: boolean;
  readonly open: number;
}

function Counts({ counts, has_more: hasMore, open }: Counted) {
  const { t, number } = useLocale('settings');
  const left = open === 0 ? null : <p>{t('settings_customers_open', { count: number(open) })}</p>;
  if (counts.payments === 0 && counts.invoices === 0) {
    return (
      <Notice>
        <p>{t('settings_customers_none')}</p>
        {left}
      </Notice>
    );
  }
  const rows = [
    [t('settings_customers_payments'), counts.payments],
    [t('settings_customers_events'), counts.events],
    [t('settings_customers_notes'), counts.notes],
    [t('settings_customers_reasons'), counts.refund_reasons],
    [t('settings_customers_answers'), counts.answers],
    [t('settings_customers_invoices'), counts.invoices],
  ] as const;
  return (
    <>
      <table className={css.counts}>
        <tbody>
          {rows.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{number(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {hasMore ? <p>{t('settings_customers_more', { count: number(counts.payments) })}</p> : null}
      {left}
    </>
  );
}
