import { useQuery } from '@tanstack/react-query';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useActions } from '../../session.ts';
import { Page } from '../../shell/page.tsx';
import { Card, Row } from '../../ui/card.tsx';
import { NotLoaded } from '../../ui/placeholder.tsx';
import { ActivationCard } from './activation-card.tsx';
import { settingsQuery, SettingsForm } from './settings-form.tsx';
import css from './settings.module.css';
import { useState } from 'react';
import { urlOf } from '../../api.ts';
import { problemOfForm } from '../../problem.ts';
import { Button } from '../../ui/button.tsx';
import { sizeText, useDownload } from '../../download.ts';
import { CustomerMailsCard } from './customer-mails-card.tsx';
import { DatevCard } from './datev-card.tsx';
import { InvoicesCard } from './invoices-card.tsx';
import { TillCard } from './till-card.tsx';
import { CustomersDialog } from './customers-dialog.tsx';
import { useScope } from '../../scope.ts';

/** A project's looks for customers, its defaults, its data, and whether it takes payments. */
export function SettingsPage() {
  const { t } = useLocale('settings');
  const { project } = useScope();
  const settings = useQuery(settingsQuery(project));
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
            <CustomerMailsCard />
            <InvoicesCard />
            <TillCard />
            <DatevCard />
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

/** The project's data, to export or to delete. */
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

/** One download at a time; leaving the page stops it, here and on the server. */
function ExportRow() {
  const { t, number } = useLocale('settings');
  const { toast } = useDashboard();
  const { project } = useScope();
  const { progress, start, stop } = useDownload(
    urlOf('/dashboard/api/projects/:project/settings/export', { params: { project } }),
    ({ content }) => toast(t('settings_export_done', { size: sizeText(content.size, number) })),
    (fault) => {
      const problem = problemOfForm(fault, [], t);
      if (problem !== null) toast(problem, 'problem');
    },
  );
  return (
    <Row
      title={t('settings_export')}
      text={
        <>
          {t('settings_export_text')}
          {progress === null ? null : (
            <b role="status"> {t('settings_export_progress', { size: sizeText(progress.bytes, number) })}</b>
          )}
        </>
      }
    >
      {progress === null ? (
        <Button onClick={() => start({})}>{t('settings_export')}</Button>
      ) : (
        <Button onClick={stop}>{t('settings_export_stop')}</Button>
      )}
    </Row>
  );
}
