import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf, problemOfForm } from '../../problem.ts';
import { sessionQuery, useSignedIn } from '../../session.ts';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { PasswordField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';

const MIN_LENGTH = 12;

/** A new password; all other sessions end with the old one. */
export function PasswordDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLocale();
  const { api, queries, toast } = useDashboard();
  const { person } = useSignedIn();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const change = useMutation({
    mutationFn: () =>
      api('POST /dashboard/api/account/password', { body: { current_password: current, password: next } }),
    onSuccess: (session) => {
      queries.setQueryData(sessionQuery(api).queryKey, session);
      void queries.invalidateQueries({ queryKey: ['sessions'] });
      toast(t('password_changed'));
      onClose();
    },
  });
  return (
    <Dialog title={t('change_password')} description={t('change_password_text')} onClose={onClose}>
      <Form isDirty={current !== '' || next !== ''} fault={change.error} onSubmit={() => change.mutate()}>
        {/* For password managers. */}
        <input type="text" autoComplete="username" value={person.email} readOnly hidden />
        <PasswordField
          label={t('current_password')}
          autoComplete="current-password"
          required
          maxLength={1024}
          value={current}
          problem={problemOf(change.error, 'current_password')}
          onChange={(event) => setCurrent(event.currentTarget.value)}
        />
        <PasswordField
          label={t('new_password')}
          autoComplete="new-password"
          required
          minLength={MIN_LENGTH}
          maxLength={1024}
          hint={t('password_hint')}
          value={next}
          problem={problemOf(change.error, 'password')}
          onChange={(event) => setNext(event.currentTarget.value)}
        />
        <DialogActions
          confirm={t('change_password')}
          isBusy={change.isPending}
          problem={problemOfForm(change.error, ['current_password', 'password'], t)}
          onCancel={onClose}
        />
      </Form>
    </Dialog>
  );
}
