import { createRootRouteWithContext, createRoute, createRouter, redirect } from '@tanstack/react-router';
import { type Dashboard, sessionQuery } from './dashboard.ts';
import { lazyPage } from './lazy-page.tsx';
import { homeSearch } from './pages/home/search.ts';
import type { Given } from './search.ts';
import type { AttentionSearch } from './pages/attention/search.ts';
import type { AuditSearch } from './pages/audit/audit-page.tsx';
import type { CustomersSearch } from './pages/customers/customers-page.tsx';
import type { PaymentRequestsSearch } from './pages/payment-requests/payment-requests-page.tsx';
import type { PaymentsSearch } from './pages/payments/search.ts';
import type { EventsSearch } from './pages/events/events-page.tsx';
import type { RefundsSearch } from './pages/refunds/refunds-page.tsx';
import type { ReportsSearch } from './pages/reports/search.ts';
import type { RequestsSearch } from './pages/requests/search.ts';
import type { WebhooksSearch } from './pages/webhooks/search.ts';
import type { SignedIn } from './session.ts';
import { Layout } from './shell/layout.tsx';
import { Root } from './shell/root.tsx';
import { FaultInMain, FaultPage, NotFoundInMain, NotFoundPage } from './shell/page.tsx';
import { leaveFor } from './leave-for.ts';
import { homeScope, mayUseTill } from './scope.ts';

interface Context {
  readonly dashboard: Dashboard;
}

const root = createRootRouteWithContext<Context>()({
  component: Root,
  errorComponent: FaultInMain,
  notFoundComponent: NotFoundInMain,
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search): { to?: string } => (typeof search['to'] === 'string' ? { to: search['to'] } : {}),
  component: lazyPage(() => import('./pages/access/sign-in-page.tsx'), 'SignInPage', 'access'),
});
/** The page for links of the set-up, an invitation or `user reset`. */
const setupLink = createRoute({
  getParentRoute: () => root,
  path: '/setup/$token',
  component: lazyPage(() => import('./pages/access/link-page.tsx'), 'LinkPage', 'access'),
});

/** The page for links in mails that switch off their kind of mail. */
const unsubscribe = createRoute({
  getParentRoute: () => root,
  path: '/unsubscribe/$token',
  component: lazyPage(
    () => import('./pages/access/unsubscribe-page.tsx'),
    'UnsubscribePage',
    'access',
    'notifications',
  ),
});

/** Pages that require a session. Others are sent to the sign-in page and back. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  beforeLoad: async ({ context: { dashboard }, location }): Promise<{ readonly session: SignedIn }> => {
    const session = await dashboard.queries.ensureQueryData(sessionQuery);
    if (session.state === 'signed_in' && session.must_add_factor) throw redirect({ to: '/protect', replace: true });
    if (session.state === 'signed_in') return { session };
    const search = location.pathname === '/' ? {} : { to: location.href };
    throw redirect({ to: '/sign-in', search, replace: true });
  },
  component: Layout,
  errorComponent: FaultInMain,
});
const index = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  beforeLoad: ({ context: { session } }) => {
    const scope = homeScope(session);
    if (scope !== null) throw redirect({ to: '/projects/$project/$mode', params: scope, replace: true });
    // Cashiers have no page here. The till is a document of its own, and nothing is shown on the way to it.
    if (mayUseTill(session)) return leaveFor('/till');
    return undefined;
  },
  component: lazyPage(() => import('./pages/home/home-page.tsx'), 'NoProjectPage', 'detail', 'list'),
});
const protect = createRoute({
  getParentRoute: () => root,
  path: '/protect',
  component: lazyPage(() => import('./pages/access/protect-page.tsx'), 'ProtectPage', 'access'),
});
const account = createRoute({
  getParentRoute: () => signedIn,
  path: '/account',
  component: lazyPage(() => import('./pages/account/account-page.tsx'), 'AccountPage', 'access', 'notifications'),
});
/** A page of a project and mode. */
function inProject<Path extends string>(path: Path, component: ReturnType<typeof lazyPage>) {
  return createRoute({ getParentRoute: () => signedIn, path: `/projects/$project/$mode${path}` as const, component });
}

/** The same with parameters. `read` hands them on as they are if the page itself reads them, with what that takes. */
function inProjectWith<Path extends string, Search extends object>(
  path: Path,
  component: ReturnType<typeof lazyPage>,
  read: (search: Given) => Search,
) {
  const route = { getParentRoute: () => signedIn, path: `/projects/$project/$mode${path}` as const, component };
  return createRoute({ ...route, validateSearch: read });
}

const home = inProjectWith(
  '',
  lazyPage(() => import('./pages/home/home-page.tsx'), 'HomePage', 'detail', 'list'),
  homeSearch,
);
const attention = inProjectWith(
  '/attention',
  lazyPage(
    () => import('./pages/attention/attention-page.tsx'),
    'AttentionPage',
    'attention',
    'bulk',
    'sending',
    'detail',
    'list',
    'signing',
  ),
  (search): AttentionSearch => search,
);
const payments = inProjectWith(
  '/payments',
  lazyPage(
    () => import('./pages/payments/payments-page.tsx'),
    'PaymentsPage',
    'list',
    'bulk',
    'detail',
    'signing',
    'sending',
  ),
  (search): PaymentsSearch => search,
);
const payment = inProject(
  '/payments/$payment',
  lazyPage(
    () => import('./pages/payments/payment/payment-page.tsx'),
    'PaymentPage',
    'detail',
    'list',
    'signing',
    'sending',
  ),
);

const refunds = inProjectWith(
  '/refunds',
  lazyPage(
    () => import('./pages/refunds/refunds-page.tsx'),
    'RefundsPage',
    'refunds',
    'detail',
    'list',
    'signing',
    'sending',
  ),
  (search): RefundsSearch => search,
);
const paymentRequests = inProjectWith(
  '/payment-requests',
  lazyPage(
    () => import('./pages/payment-requests/payment-requests-page.tsx'),
    'PaymentRequestsPage',
    'payment-requests',
    'detail',
    'list',
  ),
  (search): PaymentRequestsSearch => search,
);
const customers = inProjectWith(
  '/customers',
  lazyPage(() => import('./pages/customers/customers-page.tsx'), 'CustomersPage', 'customers', 'list'),
  (search): CustomersSearch => search,
);
const reports = inProjectWith(
  '/reports',
  lazyPage(() => import('./pages/reports/reports-page.tsx'), 'ReportsPage', 'reports'),
  (search): ReportsSearch => search,
);
const wallets = inProject(
  '/wallets',
  lazyPage(() => import('./pages/wallets/wallets-page.tsx'), 'WalletsPage', 'wallets'),
);
const sweeps = inProject(
  '/sweeps',
  lazyPage(() => import('./pages/sweeps/sweeps-page.tsx'), 'SweepsPage', 'sweeps', 'sending'),
);
const settings = inProject(
  '/settings',
  lazyPage(() => import('./pages/settings/settings-page.tsx'), 'SettingsPage', 'settings'),
);
const keys = inProject(
  '/keys',
  lazyPage(() => import('./pages/keys/keys-page.tsx'), 'KeysPage', 'keys', 'webhooks'),
);
const people = inProject(
  '/people',
  lazyPage(() => import('./pages/people/people-page.tsx'), 'PeoplePage', 'people', 'keys'),
);
const audit = inProjectWith(
  '/audit',
  lazyPage(() => import('./pages/audit/audit-page.tsx'), 'AuditPage', 'audit'),
  (search): AuditSearch => search,
);
const webhooks = inProjectWith(
  '/webhooks',
  lazyPage(() => import('./pages/webhooks/webhooks-page.tsx'), 'WebhooksPage', 'webhooks'),
  (search): WebhooksSearch => search,
);
const events = inProjectWith(
  '/event-log',
  lazyPage(() => import('./pages/events/events-page.tsx'), 'EventsPage', 'webhooks'),
  (search): EventsSearch => search,
);
const requests = inProjectWith(
  '/requests',
  lazyPage(() => import('./pages/requests/requests-page.tsx'), 'RequestsPage', 'requests'),
  (search): RequestsSearch => search,
);

/** Any other address: a page with the way to Home. */
const nowhere = createRoute({ getParentRoute: () => signedIn, path: '/$', component: NotFoundPage });

const tree = root.addChildren([
  signIn,
  setupLink,
  unsubscribe,
  protect,
  signedIn.addChildren([
    index,
    account,
    home,
    attention,
    payments,
    payment,
    paymentRequests,
    refunds,
    customers,
    reports,
    wallets,
    sweeps,
    keys,
    webhooks,
    events,
    requests,
    settings,
    people,
    audit,
    nowhere,
  ]),
]);

/** Every page, by its path below `/dashboard`. Search parameters are plain words, because people share URLs. */
export function createDashboardRouter(dashboard: Dashboard) {
  return createRouter({
    routeTree: tree,
    basepath: '/dashboard',
    context: { dashboard },
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
    // Choices and texts of a page belong to one project and mode.
    defaultRemountDeps: ({ params }) => ('project' in params ? [params.project, params.mode] : null),
    defaultErrorComponent: FaultPage,
    defaultNotFoundComponent: NotFoundPage,
    parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
    stringifySearch: (search) => {
      const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
      const query = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
      return query === '' ? '' : `?${query}`;
    },
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createDashboardRouter>;
  }
}
