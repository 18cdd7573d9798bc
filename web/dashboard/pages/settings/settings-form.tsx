import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { SettingsView } from '../../../../src/http/dashboard/settings/contract.ts';
import { ApiFault, reads } from '../../api.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Form, SelectField } from '../../ui/form.tsx';
import { Problem } from '../../ui/notice.tsx';
import { BrandingFields, SettingField, type FormPart, type Fields } from './setting-fields.tsx';
import { Preview, usePreview } from './preview.tsx';
import css from './settings.module.css';
import { useScope } from '../../scope.ts';

const FIELDS = [
  'name',
  'accent',
  'support_url',
  'page_text',
  'terms_url',
  'imprint_url',
  'logo',
  'icon',
  'default_expiry_minutes',
  'default_success_url',
];

function fieldsOf(settings: SettingsView): Fields {
  return {
    name: settings.name,
    accent: settings.accent === null ? '' : `#${settings.accent}`,
    support_url: settings.support_url ?? '',
    page_text: settings.page_text ?? '',
    terms_url: settings.terms_url ?? '',
    imprint_url: settings.imprint_url ?? '',
    default_expiry_minutes: String(settings.default_expiry_minutes ?? ''),
    default_currency: settings.default_currency ?? '',
    default_success_url: settings.default_success_url ?? '',
  };
}

/** Settings that are saved together, with a preview of the page that they change. */
export function SettingsForm({ settings }: { readonly settings: SettingsView }) {
  const { t } = useLocale('settings');
  const { fields, set, discard, isDirty, base, save } = useEdit(settings);
  const preview = usePreview(fields);
  const problemAt = (field: string): string | null => problemOf(save.error, field) ?? problemOf(preview.error, field);
  return (
    <Form isDirty={isDirty} fault={save.error} onSubmit={() => save.mutate()}>
      <div className={css.page}>
        <Card title={t('settings_page')}>
          <div className={css.branding}>
            <div className={css.fields}>
              <BrandingFields fields={fields} settings={base} onChange={set} problemAt={problemAt} />
            </div>
            <Preview page={preview.page} name={fields.name} />
          </div>
        </Card>
        <Card title={t('settings_defaults')}>
          <div className={css.fields}>
            <p className={css.note}>{t('settings_defaults_text')}</p>
            <Defaults fields={fields} settings={base} onChange={set} problemAt={problemAt} />
          </div>
        </Card>
        <div className={css.bar}>
          <Problem error={save.error} fields={FIELDS} />
          <div className={css.buttons}>
            {isDirty ? <Button onClick={discard}>{t('settings_discard')}</Button> : null}
            <Button kind="primary" type="submit" busy={save.isPending}>
              {t('settings_save')}
            </Button>
          </div>
        </div>
      </div>
    </Form>
  );
}

/** The edit of the settings that were shown when it began. If somebody else saves meanwhile, it starts again. */
function useEdit(settings: SettingsView) {
  const { t } = useLocale('settings');
  const { api, queries, toast } = useDashboard();
  const { project } = useScope();
  const { queryKey } = settingsQuery(project);
  const [base, setBase] = useState(settings);
  const [fields, setFields] = useState(() => fieldsOf(settings));
  const isDirty = JSON.stringify(fields) !== JSON.stringify(fieldsOf(base));
  const begin = (from: SettingsView): void => {
    setBase(from);
    setFields(fieldsOf(from));
  };
  // Another person's settings, or fields changed outside of the form.
  if (settings !== base && (settings.version === base.version || !isDirty)) {
    if (settings.version === base.version) setBase(settings);
    else begin(settings);
  }
  const save = useMutation({
    mutationFn: () =>
      api('POST /dashboard/api/projects/:project/settings', {
        params: { project },
        body: { ...fields, version: base.version },
      }),
    onSuccess: (saved) => {
      queries.setQueryData(queryKey, saved);
      begin(saved);
      // The menu of projects shows the project's name.
      void queries.invalidateQueries({ queryKey: ['session'] });
      toast(t('settings_saved'));
    },
    onError: (error) => {
      if (!(error instanceof ApiFault) || error.type !== 'conflict_error') return;
      // If the settings cannot be read now, the refusal and the typed values stay.
      void queries.fetchQuery({ ...settingsQuery(project), staleTime: 0 }).then(begin, () => undefined);
    },
  });
  return {
    fields,
    base,
    isDirty,
    save,
    set: (change: Partial<Fields>): void => setFields((before) => ({ ...before, ...change })),
    discard: (): void => {
      save.reset();
      begin(settings);
    },
  };
}

function Defaults(props: FormPart & { readonly settings: SettingsView }) {
  const { t } = useLocale('settings');
  const { fields, settings, onChange } = props;
  return (
    <>
      <SettingField
        of={props}
        field="default_expiry_minutes"
        texts={[t('settings_expiry'), t('settings_expiry_hint')]}
        max={20}
        inputMode="numeric"
      />
      <div>
        <SelectField
          label={t('settings_currency')}
          value={fields.default_currency}
          options={[['', t('settings_currency_none')], ...settings.currencies.map((one) => [one, one] as const)]}
          onValue={(text) => onChange({ default_currency: text })}
        />
        <p className={css.hint}>{t('settings_currency_hint')}</p>
      </div>
      <SettingField
        of={props}
        field="default_success_url"
        texts={[t('settings_success'), t('settings_success_hint')]}
        max={2_048}
      />
    </>
  );
}

export function settingsQuery(project: string) {
  return reads(['settings'], 'GET /dashboard/api/projects/:project/settings', { params: { project } });
}
