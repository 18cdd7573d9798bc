import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './base.css';
import { createDashboard, DashboardProvider, sessionQuery } from './dashboard.ts';
import { chosenLanguage, loadLocale, LocaleProvider } from './locale.tsx';
import { reportCaught } from './problem.ts';
import { createDashboardRouter } from './routes.tsx';

const language = chosenLanguage();
const dashboard = createDashboard(language);
// Loaded concurrently, because nothing can be shown without both.
void dashboard.queries.prefetchQuery(sessionQuery);
const locale = await loadLocale(language);
document.documentElement.lang = locale.code;

const element = document.getElementById('root');
if (element === null) throw new Error('The page has no #root.');
createRoot(element, { onCaughtError: reportCaught }).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <LocaleProvider value={locale}>
        <DashboardProvider value={dashboard}>
          <QueryClientProvider client={dashboard.queries}>
            <RouterProvider router={createDashboardRouter(dashboard)} />
          </QueryClientProvider>
        </DashboardProvider>
      </LocaleProvider>
    </CSPProvider>
  </StrictMode>,
);
