import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useDashboard, sessionQuery } from '../../dashboard.ts';
import { chooseLanguage, useLocale } from '../../locale.tsx';
import { MAIL_LANGUAGES, type MailLanguage } from '../../../../src/domain/notification.ts';
import { languageName } from '../../../../src/domain/text.ts';
import { useSignedIn, type SessionAnswer } from '../../session.ts';
import { Page } from '../../shell/page.tsx';
import { Button } from '../../ui/button.tsx';
import { Card, Row } from '../../ui/card.tsx';
import { Select } from '../../ui/field.tsx';
import { EmailField, NameField, NewPasswordField, PasswordField } from '../../ui/form.tsx';
import rows from '../../ui/row.module.css';
import { NotificationsCard } from './notifications-card.tsx';
import { Factors } from './factors.tsx';
import { Sessions } from './sessions.tsx';
import type { Api } from '../../api.ts';
import { problemOf } from '../../problem.ts';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { useChange } from '../../change.ts';

/** The person's account: how they sign in, and their sessions. */
export function AccountPage() {
  const { t } = useLocale('access');
  return (
    <Page title={t('account_settings')} hasTimes>
      <div className={rows.stack}>
        <Card title={t('signing_in')}>
          <SigningIn />
        </Card>
        <Card title={t('second_factor')}>
          <Factors />
        </Card>
        <Sessions />
        <NotificationsCard />
        <Card title={t('language')}>
          <Language />
        </Card>
      </div>
    </Page>
  );
}

function SigningIn() {
  const { t } = useLocale('access');
  const { person } = useSignedIn();
  const [asked, ask] = useState<'name' | 'email' | 'password' | null>(null);
  const close = (): void => ask(null);
  return (
    <div>
      <Row title={t('name')} text={person.name ?? t('name_none')}>
        <Button onClick={() => ask('name')}>{t('change_name')}</Button>
      </Row>
      <Row
        title={t('email')}
        text={
          person.pending_email === null
            ? person.email
            : t('email_pending', { email: person.email, next: person.pending_email })
        }
      >
        <Button onClick={() => ask('email')}>{t('change_email')}</Button>
      </Row>
      <Row title={t('password')} text={t('password_row_text')}>
        <Button onClick={() => ask('password')}>{t('change_password')}</Button>
      </Row>
      {asked === 'name' ? <NameDialog onClose={close} /> : null}
      {asked === 'email' ? <EmailDialog onClose={close} /> : null}
      {asked === 'password' ? <PasswordDialog onClose={close} /> : null}
    </div>
  );
}

function Language() {
  const { t, code } = useLocale('access');
  const { api } = useDashboard();
  // Mails use this language too.
  const save = useMutation({
    mutationFn: (language: MailLanguage) => api('POST /dashboard/api/account/notifications', { body: { language } }),
    onSettled: () => location.reload(),
  });
  return (
    <div className={rows.row}>
      <div>{t('language_text')}</div>
      <Select
        label={t('language')}
        value={code}
        options={MAIL_LANGUAGES.map((one) => [one, languageName(one)] as const)}
        onValue={(value) => {
          const language = value as MailLanguage;
          chooseLanguage(language);
          save.mutate(language);
        }}
      />
    </div>
  );
}

/** Changes the name under which colleagues know the person; an empty one removes it. */
function NameDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLocale('access');
  const { person } = useSignedIn();
  const [name, setName] = useState(person.name ?? '');
  return (
    <AccountDialog
      name={t('change_name')}
      text={t('change_name_text')}
      isDirty={name !== (person.name ?? '')}
      fields={['name']}
      send={(api) => api('POST /dashboard/api/account/name', { body: { name } })}
      done={() => t('name_changed')}
      onClose={onClose}
    >
      {(_problem, fault) => (
        <NameField
          label={t('your_name')}
          autoComplete="name"
          required={false}
          value={name}
          fault={fault}
          onValue={setName}
        />
      )}
    </AccountDialog>
  );
}

/** Changes the e-mail address for signing in, or asks the new address to confirm that. */
function EmailDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLocale('access');
  const { person } = useSignedIn();
  const [email, setEmail] = useState(person.email);
  return (
    <AccountDialog
      name={t('change_email')}
      text={t('change_email_text')}
      done={(session) =>
        session.state === 'signed_in' && session.person.pending_email !== null
          ? t('email_asked', { email: session.person.pending_email })
          : t('email_changed')
      }
      isDirty={email !== person.email}
      fields={['email']}
      send={(api) => api('POST /dashboard/api/account/email', { body: { email: email.trim() } })}
      onClose={onClose}
    >
      {(problem) => <EmailField autoComplete="email" value={email} problem={problem('email')} onValue={setEmail} />}
    </AccountDialog>
  );
}

/** Changes the password, which ends all other sessions. */
function PasswordDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLocale('access');
  const { person } = useSignedIn();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const body = { current_password: current, password: next };
  return (
    <AccountDialog
      name={t('change_password')}
      text={t('change_password_text')}
      isDirty={current !== '' || next !== ''}
      fields={Object.keys(body)}
      send={(api) => api('POST /dashboard/api/account/password', { body })}
      done={() => t('password_changed')}
      onClose={onClose}
    >
      {(problem) => (
        <>
          {/* For password managers. */}
          <input type="text" autoComplete="username" value={person.email} readOnly hidden />
          <PasswordField
            label={t('current_password')}
            autoComplete="current-password"
            value={current}
            problem={problem('current_password')}
            onValue={setCurrent}
          />
          <NewPasswordField label={t('new_password')} value={next} problem={problem('password')} onValue={setNext} />
        </>
      )}
    </AccountDialog>
  );
}

interface AccountDialogProps {
  readonly name: string;
  readonly text: string;
  readonly isDirty: boolean;
  /** The server's names of the fields that show their own errors. */
  readonly fields: readonly string[];
  readonly send: (api: Api) => Promise<SessionAnswer>;
  /** The toast after success. */
  readonly done: (session: SessionAnswer) => string;
  readonly onClose: () => void;
  /** Renders the fields, given the error of each and the one of the request. */
  readonly children: (problem: (field: string) => string | null, fault: unknown) => ReactNode;
}

/** A dialog that changes the account and takes over the session from the answer. */
function AccountDialog({ send, done, onClose, children, ...rest }: AccountDialogProps) {
  const { t } = useLocale();
  const { queries, toast } = useDashboard();
  const change = useChange({
    send,
    stale: ['sessions'],
    onDone: (session) => {
      queries.setQueryData(sessionQuery.queryKey, session);
      toast(done(session));
      onClose();
    },
  });
  return (
    <FormDialog {...rest} confirm={t('save')} action={change} onClose={onClose}>
      {children((field) => problemOf(change.error, field), change.error)}
    </FormDialog>
  );
}
