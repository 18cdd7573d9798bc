import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import '../base.css';
import { createDashboard, DashboardProvider, sessionQuery } from '../dashboard.ts';
import { chosenLanguage, loadLocale, LocaleProvider } from '../locale.tsx';
import { reportCaught } from '../problem.ts';
import { loadTexts } from '../texts/load-texts.ts';
import { Till } from './till.tsx';

const language = chosenLanguage();
const dashboard = createDashboard(language);
const [locale, session] = await Promise.all([
  loadLocale(language),
  // Without a connection the till says so, and tries again.
  dashboard.queries.fetchQuery(sessionQuery).catch(() => null),
  loadTexts(language, 'till'),
]);
document.documentElement.lang = locale.code;

if (session !== null && session.state !== 'signed_in') {
  const to = `/till${location.search}`;
  location.replace(`/dashboard/sign-in?${new URLSearchParams({ to }).toString()}`);
} else if (session?.must_add_factor === true) location.replace('/dashboard/protect');
else {
  const element = document.getElementById('root');
  if (element === null) throw new Error('The page has no #root.');
  createRoot(element, { onCaughtError: reportCaught }).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <LocaleProvider value={locale}>
          <DashboardProvider value={dashboard}>
            <QueryClientProvider client={dashboard.queries}>
              <Till />
            </QueryClientProvider>
          </DashboardProvider>
        </LocaleProvider>
      </CSPProvider>
    </StrictMode>,
  );
}
