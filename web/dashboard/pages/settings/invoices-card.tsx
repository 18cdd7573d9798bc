import { useMutation, useQuery } from '@tanstack/react-query';
import type { InvoiceSettingsView } from '../../../../src/http/dashboard/invoice-documents/contract.ts';
import { reads } from '../../api.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { useScope } from '../../scope.ts';
import { Field } from '../../ui/field.tsx';
import { Form, SelectField, TextArea } from '../../ui/form.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useTypedNumber } from '../../use-typed-number.ts';
import { SaveButton, SavedCard, useTyped } from './saved-form.tsx';
import css from './settings.module.css';

const invoicesQuery = (project: string) =>
  reads(['invoice-settings'], 'GET /dashboard/api/projects/:project/settings/invoices', { params: { project } });

/** The parts of invoices that the project sets once. */
export function InvoicesCard() {
  const { t } = useLocale('settings');
  const { project } = useScope();
  return (
    <SavedCard
      title={t('settings_invoices')}
      query={useQuery(invoicesQuery(project))}
      form={(saved) => <InvoicesForm key={project} saved={saved} />}
    />
  );
}

const FIELDS = ['seller_lines', 'seller_tax_id', 'prefix', 'vat_rate', 'due_days'] as const;

function InvoicesForm({ saved }: { readonly saved: InvoiceSettingsView }) {
  const { t } = useLocale('settings');
  const { fields, set, save, isDirty } = useEdit(saved);
  const field = (name: Exclude<(typeof FIELDS)[number], 'seller_lines'>, max: number) => (
    <Field
      key={name}
      label={t(`settings_invoices_${name}`)}
      hint={t(`settings_invoices_${name}_hint`)}
      value={fields[name]}
      problem={problemOf(save.error, name)}
      max={max}
      autoComplete="off"
      onValue={(text) => set({ [name]: text })}
    />
  );
  return (
    <Form isDirty={isDirty} fault={save.error} onSubmit={() => save.mutate()}>
      <div className={css.fields}>
        <p className={css.note}>{t('settings_invoices_text')}</p>
        <TextArea
          label={t('settings_invoices_seller_lines')}
          hint={t('settings_invoices_seller_lines_hint')}
          rows={3}
          value={fields.seller_lines}
          problem={problemOf(save.error, 'seller_lines')}
          onValue={(text) => set({ seller_lines: text })}
        />
        {field('seller_tax_id', 50)}
        {field('prefix', 20)}
        {field('vat_rate', 20)}
        {field('due_days', 20)}
        <SelectField
          label={t('settings_invoices_reminds')}
          hint={t('settings_invoices_reminds_hint')}
          value={fields.reminds ? 'on' : 'off'}
          options={[
            ['off', t('settings_invoices_reminds_off')],
            ['on', t('settings_invoices_reminds_on')],
          ]}
          onValue={(value) => set({ reminds: value === 'on' })}
        />
        {fields.reminds && !saved.sends_mail ? <Notice>{t('settings_mails_none')}</Notice> : null}
        <SaveButton save={save} fields={FIELDS} text={t('settings_invoices_save')} />
      </div>
    </Form>
  );
}

/** The edit of the settings, and their saving. */
function useEdit(saved: InvoiceSettingsView) {
  const { project } = useScope();
  const { t } = useLocale('settings');
  const { plain } = useTypedNumber();
  const { api, queries, toast } = useDashboard();
  const { fields, isDirty, set, forget } = useTyped(saved);
  const save = useMutation({
    mutationFn: () => {
      const { sends_mail: _sendsMail, ...body } = fields;
      return api('POST /dashboard/api/projects/:project/settings/invoices', {
        params: { project },
        body: { ...body, vat_rate: plain(body.vat_rate) ?? body.vat_rate },
      });
    },
    onSuccess: (answer) => {
      queries.setQueryData(invoicesQuery(project).queryKey, answer);
      void queries.invalidateQueries({ queryKey: ['invoice-defaults'] });
      forget();
      toast(t('settings_invoices_saved'));
    },
  });
  return { fields, set, save, isDirty };
}
