import { useMutation, useQuery } from '@tanstack/react-query';
import type { DatevView } from '../../../../src/http/dashboard/settings/contract.ts';
import { reads } from '../../api.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { useScope } from '../../scope.ts';
import { Field } from '../../ui/field.tsx';
import { Form, SelectField } from '../../ui/form.tsx';
import { SaveButton, SavedCard, useTyped } from './saved-form.tsx';
import css from './settings.module.css';

const datevQuery = (project: string) =>
  reads(['datev'], 'GET /dashboard/api/projects/:project/settings/datev', { params: { project } });

/** The numbers and accounts of DATEV files. */
export function DatevCard() {
  const { t } = useLocale('settings');
  const { project } = useScope();
  return (
    <SavedCard
      title={t('settings_datev')}
      query={useQuery(datevQuery(project))}
      form={({ datev }) => <DatevForm key={project} saved={datev ?? NONE} />}
    />
  );
}

/** A project without them. The fiscal year is mostly the calendar's, and accounts mostly have four digits. */
const NONE: DatevView = {
  consultant_number: '',
  client_number: '',
  fiscal_year_month: '1',
  account_length: '4',
  wallet_account: '',
  receipts_account: '',
  refunds_account: '',
  fees_account: '',
};

const TYPED = [
  'consultant_number',
  'client_number',
  'wallet_account',
  'receipts_account',
  'refunds_account',
  'fees_account',
] as const satisfies readonly (keyof DatevView)[];
const FIELDS: readonly string[] = [...TYPED, 'fiscal_year_month', 'account_length'];

function DatevForm({ saved }: { readonly saved: DatevView }) {
  const { t, intl } = useLocale('settings');
  const { fields, set, save, isDirty } = useEdit(saved);
  const months = new Intl.DateTimeFormat(intl, { month: 'long', timeZone: 'UTC' });
  const choice = (
    field: 'fiscal_year_month' | 'account_length',
    options: readonly (readonly [value: string, text: string])[],
  ) => (
    <SelectField
      label={t(`settings_datev_${field}`)}
      value={fields[field]}
      options={options}
      onValue={(value) => set({ [field]: value })}
    />
  );
  const typed = (field: (typeof TYPED)[number]) => (
    <Field
      key={field}
      label={t(`settings_datev_${field}`)}
      hint={t(`settings_datev_${field}_hint`)}
      value={fields[field]}
      problem={problemOf(save.error, field)}
      max={9}
      inputMode="numeric"
      autoComplete="off"
      onValue={(text) => set({ [field]: text })}
    />
  );
  const [consultant, client, ...accounts] = TYPED;
  return (
    <Form isDirty={isDirty} fault={save.error} onSubmit={() => save.mutate()}>
      <div className={css.fields}>
        <p className={css.note}>{t('settings_datev_text')}</p>
        {[consultant, client].map(typed)}
        {choice(
          'fiscal_year_month',
          Array.from({ length: 12 }, (_, at) => [String(at + 1), months.format(Date.UTC(2026, at, 1))] as const),
        )}
        {choice(
          'account_length',
          ['4', '5', '6', '7', '8'].map((length) => [length, length] as const),
        )}
        {accounts.map(typed)}
        <SaveButton save={save} fields={FIELDS} text={t('settings_datev_save')} />
      </div>
    </Form>
  );
}

/** The edit of the settings, and their saving. Without any number or account, none are kept. */
function useEdit(saved: DatevView) {
  const { project } = useScope();
  const { t } = useLocale('settings');
  const { api, queries, toast } = useDashboard();
  const { fields, isDirty, set, forget } = useTyped(saved);
  const isEmpty = TYPED.every((field) => fields[field].trim() === '');
  const save = useMutation({
    mutationFn: () =>
      api('POST /dashboard/api/projects/:project/settings/datev', {
        params: { project },
        body: { datev: isEmpty ? null : fields },
      }),
    onSuccess: (answer) => {
      queries.setQueryData(datevQuery(project).queryKey, answer);
      void queries.invalidateQueries({ queryKey: ['reports'] });
      forget();
      toast(t('settings_datev_saved'));
    },
  });
  return { fields, set, save, isDirty };
}
