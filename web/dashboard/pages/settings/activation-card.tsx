import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { SettingsView } from '../../../../src/http/dashboard/settings/contract.ts';
import { reads } from '../../api.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf, problemOfForm } from '../../problem.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Row } from '../../ui/card.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { NotLoaded } from '../../ui/placeholder.tsx';
import { settingsQuery } from './settings-form.tsx';
import css from './settings.module.css';
import { useChange } from '../../change.ts';
import { useScope } from '../../scope.ts';

interface ActivationProps {
  readonly settings: SettingsView;
  readonly mayChange: boolean;
}

/** Whether the project takes payments. */
export function ActivationCard({ settings, mayChange }: ActivationProps) {
  const { t } = useLocale('settings');
  const [isAsking, setAsking] = useState(false);
  const { is_active: isActive } = settings;
  const activate = useActivation(true, () => {});
  const text = t(isActive ? 'settings_state_active_text' : 'settings_state_inactive_text');
  const button = isActive ? (
    <Button onClick={() => setAsking(true)}>{t('settings_deactivate')}</Button>
  ) : (
    <Button kind="primary" busy={activate.isPending} onClick={() => activate.mutate('')}>
      {t('settings_activate')}
    </Button>
  );
  const problem = problemOfForm(activate.error, [], t);
  return (
    <Card title={t('settings_state')}>
      <div>
        <Row
          title={t(isActive ? 'settings_state_active' : 'settings_state_inactive')}
          text={[text, mayChange ? null : t('settings_state_owner'), problem].filter((one) => one !== null).join(' ')}
        >
          {mayChange ? button : null}
        </Row>
      </div>
      {isAsking ? <DeactivateDialog name={settings.name} onClose={() => setAsking(false)} /> : null}
    </Card>
  );
}

function useActivation(active: boolean, onDone: () => void) {
  const { t } = useLocale('settings');
  const { project } = useScope();
  const params = { project };
  return useChange({
    send: (api, name: string) =>
      active
        ? api('POST /dashboard/api/projects/:project/settings/activate', { params })
        : api('POST /dashboard/api/projects/:project/settings/deactivate', { params, body: { name } }),
    shows: settingsQuery(project),
    done: t(active ? 'settings_activated' : 'settings_deactivated'),
    onDone,
  });
}

/** Says what stops, and asks for the project's name. */
function DeactivateDialog({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const { t } = useLocale('settings');
  const { project } = useScope();
  const [typed, type] = useState('');
  const deactivate = useActivation(false, onClose);
  const query = reads(['settings-stops'], 'GET /dashboard/api/projects/:project/settings/stops', {
    params: { project },
  });
  const stops = useQuery({ ...query, staleTime: 0 });
  if (stops.data === undefined) {
    return (
      <Dialog title={t('settings_deactivate')} onClose={onClose}>
        <NotLoaded query={stops} rows={3} />
      </Dialog>
    );
  }
  const { live, test } = stops.data;
  return (
    <Dialog title={t('settings_deactivate')} onClose={onClose}>
      <Form isDirty={typed !== ''} fault={deactivate.error} onSubmit={() => deactivate.mutate(typed)}>
        <div>
          <b>{t('settings_deactivate_stops')}</b>
          <ul className={css.list}>
            <li>{t('settings_deactivate_keys', { live: live.keys, test: test.keys })}</li>
            <li>{t('settings_deactivate_pages', { live: live.open_payments, test: test.open_payments })}</li>
          </ul>
        </div>
        <div>
          <b>{t('settings_deactivate_goes_on')}</b>
          <ul className={css.list}>
            <li>{t('settings_deactivate_watch')}</li>
            <li>{t('settings_deactivate_hooks', { live: live.endpoints, test: test.endpoints })}</li>
            <li>{t('settings_deactivate_people')}</li>
          </ul>
        </div>
        <Field
          label={t('settings_deactivate_type', { name })}
          value={typed}
          max={300}
          required
          autoComplete="off"
          spellCheck={false}
          problem={problemOf(deactivate.error, 'name')}
          onValue={type}
        />
        <DialogActions
          confirm={t('settings_deactivate')}
          isDangerous
          isBusy={deactivate.isPending}
          problem={problemOfForm(deactivate.error, ['name'], t)}
          onCancel={onClose}
        />
      </Form>
    </Dialog>
  );
}
