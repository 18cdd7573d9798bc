import { useMutation, useQuery } from '@tanstack/react-query';
import type { TillSettingsView } from '../../../../src/http/dashboard/settings/contract.ts';
import { reads } from '../../api.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { useScope } from '../../scope.ts';
import { Field } from '../../ui/field.tsx';
import { Form, SelectField } from '../../ui/form.tsx';
import { SaveButton, SavedCard, useTyped } from './saved-form.tsx';
import css from './settings.module.css';

const tillQuery = (project: string) =>
  reads(['till-settings'], 'GET /dashboard/api/projects/:project/settings/till', { params: { project } });

/** When a payment counts as paid at the till, and whether the till offers tips. */
export function TillCard() {
  const { project } = useScope();
  const query = useQuery(tillQuery(project));
  const form = (saved: TillSettingsView) => <TillForm key={project} saved={saved} />;
  return <SavedCard title={useLocale().t('till')} query={query} form={form} />;
}

const FIELDS = ['seen_below'];

function TillForm({ saved }: { readonly saved: TillSettingsView }) {
  const { t, percent } = useLocale('settings');
  const { project } = useScope();
  const { api, queries, toast } = useDashboard();
  const { fields, isDirty, set, forget } = useTyped(saved);
  const save = useMutation({
    mutationFn: () =>
      api('POST /dashboard/api/projects/:project/settings/till', {
        params: { project },
        body: { seen_below: fields.seen_below, currency: fields.currency, tips: fields.tips },
      }),
    onSuccess: (answer) => {
      queries.setQueryData(tillQuery(project).queryKey, answer);
      forget();
      toast(t('settings_till_saved'));
    },
  });
  // The limit keeps the currency in which it was saved.
  const isForeign = saved.seen_below !== '' && saved.currency !== saved.project_currency;
  return (
    <Form isDirty={isDirty} fault={save.error} onSubmit={() => save.mutate()}>
      <div className={css.fields}>
        <p className={css.note}>{t('settings_till_text')}</p>
        <Field
          label={t('settings_till_below', { currency: saved.currency })}
          hint={
            isForeign
              ? t('settings_till_below_other', { currency: saved.currency, other: saved.project_currency })
              : t('settings_till_below_hint')
          }
          value={fields.seen_below}
          problem={problemOf(save.error, 'seen_below')}
          max={20}
          inputMode="decimal"
          autoComplete="off"
          onValue={(text) => set({ seen_below: text })}
        />
        <SelectField
          label={t('settings_till_tips')}
          value={fields.tips ? 'on' : 'off'}
          options={[
            ['off', t('settings_till_tips_off')],
            ['on', saved.tip_percents.map((one) => percent(one)).join(', ')],
          ]}
          onValue={(value) => set({ tips: value === 'on' })}
        />
        <SaveButton save={save} fields={FIELDS} text={t('settings_till_save')} />
      </div>
    </Form>
  );
}
