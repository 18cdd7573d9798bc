import { useQuery } from '@tanstack/react-query';
import { useDashboard, askToReauthenticate, noteRefusal } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { useActions } from '../../session.ts';
import { Page } from '../../shell/page.tsx';
import { Card, Row } from '../../ui/card.tsx';
import { NotLoaded } from '../../ui/placeholder.tsx';
import { ActivationCard } from './activation-card.tsx';
import { settingsQuery, SettingsForm } from './settings-form.tsx';
import css from './settings.module.css';
import { useEffect, useRef, useState } from 'react';
import { ApiFault, urlOf } from '../../api.ts';
import { problemText } from '../../problem.ts';
import { Button } from '../../ui/button.tsx';
import { downloadFile, saveFile } from '../../download.ts';
import { CustomersDialog } from './customers-dialog.tsx';

/** How a project looks to customers, its defaults, its data, and whether it takes payments. */
export function SettingsPage() {
  const { t } = useLocale('settings');
  const { api } = useDashboard();
  const { project } = useScope();
  const settings = useQuery(settingsQuery(api, project));
  const actions = useActions();
  return (
    <Page title={t('settings')}>
      <div className={css.page}>
        {settings.data === undefined ? (
          <Card>
            <NotLoaded query={settings} rows={6} />
          </Card>
        ) : (
          <>
            <SettingsForm key={project} settings={settings.data} />
            <DataCard
              mayExport={actions.includes('export_project')}
              mayDelete={actions.includes('delete_customer_data')}
            />
            <ActivationCard settings={settings.data} mayChange={actions.includes('deactivate_project')} />
          </>
        )}
      </div>
    </Page>
  );
}

interface DataCardProps {
  readonly mayExport: boolean;
  readonly mayDelete: boolean;
}

/** The data that can be taken out of a project, and that can be deleted. */
function DataCard({ mayExport, mayDelete }: DataCardProps) {
  const { t } = useLocale('settings');
  const [isDeleting, setDeleting] = useState(false);
  return (
    <Card title={t('settings_data')}>
      <div>
        {mayExport ? <ExportRow /> : null}
        <Row
          title={t('settings_customers')}
          text={
            mayDelete ? t('settings_customers_text') : `${t('settings_customers_text')} ${t('settings_state_owner')}`
          }
        >
          {mayDelete ? <Button onClick={() => setDeleting(true)}>{t('settings_customers')}</Button> : null}
        </Row>
      </div>
      {isDeleting ? <CustomersDialog onClose={() => setDeleting(false)} /> : null}
    </Card>
  );
}

const KIB = 1_024;

/** One download at a time; leaving the page stops it, here and on the server. */
function ExportRow() {
  const { t, number } = useLocale('settings');
  const dashboard = useDashboard();
  const { toast, reauthentication } = dashboard;
  const { project } = useScope();
  const [bytes, setBytes] = useState<number | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const sizeOf = (count: number): string =>
    count < KIB * KIB ? `${number(Math.ceil(count / KIB))} KB` : `${number(Math.round(count / KIB / KIB))} MB`;
  const download = async (signal: AbortSignal) => {
    const url = urlOf('/dashboard/api/projects/:project/settings/export', { params: { project } });
    const watching = { signal, onProgress: (progress: { readonly bytes: number }) => setBytes(progress.bytes) };
    try {
      return await downloadFile(url, {}, watching);
    } catch (error) {
      if (!(error instanceof ApiFault) || error.type !== 'reauthentication_required') throw error;
      return (await askToReauthenticate(reauthentication)) ? downloadFile(url, {}, watching) : null;
    }
  };
  const start = async (): Promise<void> => {
    const own = new AbortController();
    running.current = own;
    setBytes(0);
    try {
      const file = await download(own.signal);
      if (file === null) return;
      saveFile(file);
      toast(t('settings_export_done', { size: sizeOf(file.content.size) }));
    } catch (error) {
      if (own.signal.aborted) return;
      noteRefusal(dashboard, error);
      toast(problemText(error, t), 'problem');
    } finally {
      setBytes(null);
    }
  };
  return (
    <Row
      title={t('settings_export')}
      text={
        <>
          {t('settings_export_text')}
          {bytes === null ? null : <b role="status"> {t('settings_export_progress', { size: sizeOf(bytes) })}</b>}
        </>
      }
    >
      {bytes === null ? (
        <Button onClick={() => void start()}>{t('settings_export')}</Button>
      ) : (
        <Button onClick={() => running.current?.abort()}>{t('settings_export_stop')}</Button>
      )}
    </Row>
  );
}
