import { useQuery } from '@tanstack/react-query';
import type { InvoiceSettingsView } from '../../../../src/http/dashboard/invoice-documents/contract.ts';
import { reads } from '../../api.ts';
import { useChange } from '../../change.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { useScope } from '../../scope.ts';
import { Checks } from '../../ui/choices.tsx';
import { Field } from '../../ui/field.tsx';
import { Form, TextArea } from '../../ui/form.tsx';
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
  const query = useQuery(invoicesQuery(project));
  const form = (saved: InvoiceSettingsView) => <InvoicesForm key={project} saved={saved} />;
  return <SavedCard title={t('settings_invoices')} query={query} form={form} />;
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
      autoComplete="off"
      max={max}
      problem={problemOf(save.error, name)}
      value={fields[name]}
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
        <Checks
          label={t('settings_invoices_reminds')}
          chosen={fields.reminds ? ['on'] : []}
          options={[
            { value: 'on', text: t('settings_invoices_reminds_on'), detail: t('settings_invoices_reminds_hint') },
          ]}
          onChosen={(chosen) => set({ reminds: chosen.length > 0 })}
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
  const { fields, isDirty, set, forget } = useTyped(saved);
  const { sends_mail: _sendsMail, vat_rate: rate, ...body } = fields;
  const save = useChange({
    send: (api) =>
      api('POST /dashboard/api/projects/:project/settings/invoices', {
        params: { project },
        body: { ...body, vat_rate: plain(rate) ?? rate },
      }),
    shows: invoicesQuery(project),
    stale: ['invoice-defaults'],
    done: t('settings_invoices_saved'),
    onDone: forget,
  });
  return { fields, set, save, isDirty };
}
