import { useQuery } from '@tanstack/react-query';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { useSignedIn } from '../../session.ts';
import { Page } from '../../shell/page.tsx';
import { Card } from '../../ui/card.tsx';
import { Failed } from '../keys/failed.tsx';
import { ActivationCard } from './activation-card.tsx';
import { DataCard } from './data-card.tsx';
import { settingsQuery } from './queries.ts';
import css from './settings.module.css';
import { SettingsForm } from './settings-form.tsx';

/** How a project looks to customers, its defaults, its data, and whether it takes payments. */
export function SettingsPage() {
  const { t } = useLocale('settings');
  const { api } = useDashboard();
  const { project } = useScope();
  const settings = useQuery(settingsQuery(api, project));
  const actions = useSignedIn().projects.find(({ id }) => id === project)?.actions ?? [];
  return (
    <Page title={t('settings')}>
      <div className={css.page}>
        {settings.data === undefined ? (
          <Card>
            <Failed query={settings} rows={6} />
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
