import '../base.css';
import { createDashboard, sessionQuery } from '../dashboard.ts';
import { draw } from '../draw.tsx';
import { chosenLanguage, loadLocale } from '../locale.tsx';
import { loadTexts } from '../texts/load-texts.ts';
import { Connect } from './connect.tsx';

const language = chosenLanguage();
const dashboard = createDashboard(language);
const [locale, session] = await Promise.all([
  loadLocale(language),
  // Without a connection the page says so, and tries again.
  dashboard.queries.fetchQuery(sessionQuery).catch(() => null),
  loadTexts(language, 'connect', 'access'),
]);

/** The path is `/dashboard/connect/live` or `/dashboard/connect/test`. */
const mode = location.pathname.endsWith('/live') ? 'live' : 'test';

if (session !== null && session.state !== 'signed_in') {
  const to = `/connect/${mode}${location.search}`;
  location.replace(`/dashboard/sign-in?${new URLSearchParams({ to }).toString()}`);
} else if (session?.must_add_factor === true) location.replace('/dashboard/protect');
else draw(<Connect mode={mode} asked={location.search.slice(1)} />, dashboard, locale);
