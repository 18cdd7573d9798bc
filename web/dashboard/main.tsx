import { RouterProvider } from '@tanstack/react-router';
import './base.css';
import { createDashboard, sessionQuery } from './dashboard.ts';
import { draw } from './draw.tsx';
import { chosenLanguage, loadLocale } from './locale.tsx';
import { createDashboardRouter } from './routes.tsx';

const language = chosenLanguage();
const dashboard = createDashboard(language);
// Loaded concurrently, because nothing can be shown without both.
void dashboard.queries.prefetchQuery(sessionQuery);
const locale = await loadLocale(language);
draw(<RouterProvider router={createDashboardRouter(dashboard)} />, dashboard, locale);
