import { useMutation, useQuery } from '@tanstack/react-query';
import { languageName } from '../../../../src/domain/text.ts';
import type { CustomerMailsView } from '../../../../src/http/dashboard/settings/contract.ts';
import { reads } from '../../api.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { useScope } from '../../scope.ts';
import { Field } from '../../ui/field.tsx';
import { Form, SelectField } from '../../ui/form.tsx';
import { Notice } from '../../ui/notice.tsx';
import { SaveButton, SavedCard, useTyped } from './saved-form.tsx';
import css from './settings.module.css';

const mailsQuery = (project: string) =>
  reads(['customer-mails'], 'GET /dashboard/api/projects/:project/settings/customer-mails', { params: { project } });

/** Whether and how the project mails its customers. */
export function CustomerMailsCard() {
  const { t } = useLocale('settings');
  const { project } = useScope();
  const query = useQuery(mailsQuery(project));
  return (
    <SavedCard title={t('settings_mails')} query={query} form={(saved) => <MailsForm key={project} saved={saved} />} />
  );
}

const FIELDS = ['from_address', 'reply_to', 'language'];

function MailsForm({ saved }: { readonly saved: CustomerMailsView }) {
  const { t } = useLocale('settings');
  const { fields, set, save, isDirty } = useEdit(saved);
  return (
    <Form isDirty={isDirty} fault={save.error} onSubmit={() => save.mutate()}>
      <div className={css.fields}>
        <p className={css.note}>{t('settings_mails_text')}</p>
        {saved.sends_mail ? null : <Notice>{t('settings_mails_none')}</Notice>}
        <SelectField
          label={t('settings_mails_state')}
          value={fields.is_on ? 'on' : 'off'}
          options={[
            ['on', t('settings_mails_on')],
            ['off', t('settings_mails_off')],
          ]}
          onValue={(value) => set({ is_on: value === 'on' })}
        />
        {(['from_address', 'reply_to'] as const).map((field) => (
          <AddressField
            key={field}
            field={field}
            value={fields[field]}
            problem={problemOf(save.error, field)}
            onValue={(text) => set({ [field]: text })}
          />
        ))}
        <div>
          <SelectField
            label={t('settings_mails_language')}
            value={fields.language}
            options={saved.languages.map((code) => [code, languageName(code)] as const)}
            onValue={(language) => set({ language })}
          />
          <p className={css.hint}>{t('settings_mails_language_hint')}</p>
        </div>
        <SaveButton save={save} fields={FIELDS} text={t('settings_mails_save')} />
      </div>
    </Form>
  );
}

/** The edit of the settings, and their saving. */
function useEdit(saved: CustomerMailsView) {
  const { t } = useLocale('settings');
  const { api, queries, toast } = useDashboard();
  const { project } = useScope();
  const { fields, isDirty, set, forget } = useTyped(saved);
  const save = useMutation({
    mutationFn: () => {
      const { is_on, from_address, reply_to, language } = fields;
      return api('POST /dashboard/api/projects/:project/settings/customer-mails', {
        params: { project },
        body: { is_on, from_address, reply_to, language },
      });
    },
    onSuccess: (answer) => {
      queries.setQueryData(mailsQuery(project).queryKey, answer);
      forget();
      toast(t('settings_mails_saved'));
    },
  });
  return { fields, set, save, isDirty };
}

interface AddressFieldProps {
  readonly field: 'from_address' | 'reply_to';
  readonly value: string;
  readonly problem: string | null;
  readonly onValue: (text: string) => void;
}

function AddressField({ field, ...rest }: AddressFieldProps) {
  const { t } = useLocale('settings');
  return (
    <Field
      {...rest}
      label={t(`settings_mails_${field}`)}
      hint={t(`settings_mails_${field}_hint`)}
      max={254}
      inputMode="email"
      autoComplete="off"
      spellCheck={false}
    />
  );
}
