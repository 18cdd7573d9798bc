import '../base.css';
import { createDashboard, sessionQuery } from '../dashboard.ts';
import { draw } from '../draw.tsx';
import { chosenLanguage, loadLocale } from '../locale.tsx';
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

if (session !== null && session.state !== 'signed_in') {
  const to = `/till${location.search}`;
  location.replace(`/dashboard/sign-in?${new URLSearchParams({ to }).toString()}`);
} else if (session?.must_add_factor === true) location.replace('/dashboard/protect');
else draw(<Till />, dashboard, locale);
