import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { type Dashboard, DashboardProvider } from './dashboard.ts';
import { type Locale, LocaleProvider } from './locale.tsx';
import { reportCaught } from './problem.ts';
import type { TextPart } from './texts/parts.ts';

/** Draws a document's page, with what all of its parts share. */
export function draw(page: ReactNode, dashboard: Dashboard, locale: Locale<TextPart>): void {
  document.documentElement.lang = locale.code;
  const element = document.getElementById('root');
  if (element === null) throw new Error('The page has no #root.');
  createRoot(element, { onCaughtError: reportCaught }).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <LocaleProvider value={locale}>
          <DashboardProvider value={dashboard}>
            <QueryClientProvider client={dashboard.queries}>{page}</QueryClientProvider>
          </DashboardProvider>
        </LocaleProvider>
      </CSPProvider>
    </StrictMode>,
  );
}
