import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf, problemOfForm } from '../../problem.ts';
import { sessionQuery, useSignedIn } from '../../session.ts';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';

export function EmailDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLocale();
  const { api, queries, toast } = useDashboard();
  const { person } = useSignedIn();
  const [email, setEmail] = useState(person.email);
  const change = useMutation({
    mutationFn: () => api('POST /dashboard/api/account/email', { body: { email: email.trim() } }),
    onSuccess: (session) => {
      queries.setQueryData(sessionQuery(api).queryKey, session);
      toast(t('email_changed'));
      onClose();
    },
  });
  return (
    <Dialog title={t('change_email')} description={t('change_email_text')} onClose={onClose}>
      <Form isDirty={email !== person.email} fault={change.error} onSubmit={() => change.mutate()}>
        <Field
          label={t('email')}
          type="email"
          autoComplete="email"
          required
          maxLength={254}
          spellCheck={false}
          value={email}
          problem={problemOf(change.error, 'email')}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <DialogActions
          confirm={t('change_email')}
          isBusy={change.isPending}
          problem={problemOfForm(change.error, ['email'], t)}
          onCancel={onClose}
        />
      </Form>
    </Dialog>
  );
}
