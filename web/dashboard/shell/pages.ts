import type { Action } from '../../../src/domain/role.ts';
import type { SessionProject, SignedIn } from '../../../src/http/dashboard/account/contract.ts';
import type { TextKey } from '../texts/parts.ts';
import type { IconName } from '../ui/icons.tsx';
import type { PageGroup } from './page-groups.ts';

/** The pages of a project, in the order of the navigation; `key` is the key after `g`. Home is in no group. */
export const PAGES = [
  { to: '/projects/$project/$mode', text: 'home', icon: 'home', key: 'h', needs: 'read_payments', group: null },
  {
    to: '/projects/$project/$mode/payments',
    text: 'payments',
    icon: 'payments',
    key: 'p',
    needs: 'read_payments',
    group: 'payments',
  },
  {
    to: '/projects/$project/$mode/payment-requests',
    text: 'payment_requests',
    icon: 'invoice',
    key: 'q',
    needs: 'read_payments',
    group: 'payments',
  },
  {
    to: '/projects/$project/$mode/refunds',
    text: 'refunds',
    icon: 'refund',
    key: 'f',
    needs: 'read_payments',
    group: 'payments',
  },
  {
    to: '/projects/$project/$mode/customers',
    text: 'customers',
    icon: 'users',
    key: 'b',
    needs: 'read_payments',
    group: 'payments',
  },
  {
    to: '/projects/$project/$mode/attention',
    text: 'attention',
    icon: 'bolt',
    key: 'a',
    needs: 'read_payments',
    group: 'payments',
  },
  {
    to: '/projects/$project/$mode/wallets',
    text: 'wallets',
    icon: 'wallet',
    key: 'c',
    needs: 'read_wallets',
    group: 'money',
  },
  {
    to: '/projects/$project/$mode/sweeps',
    text: 'sweeps',
    icon: 'sweep',
    key: 's',
    needs: 'read_wallets',
    group: 'money',
  },
  {
    to: '/projects/$project/$mode/reports',
    text: 'reports',
    icon: 'report',
    key: 't',
    needs: 'read_payments',
    group: 'money',
  },
  {
    to: '/projects/$project/$mode/keys',
    text: 'keys',
    icon: 'key',
    key: 'k',
    needs: 'read_developer',
    group: 'developers',
  },
  {
    to: '/projects/$project/$mode/webhooks',
    text: 'webhooks',
    icon: 'webhook',
    key: 'w',
    needs: 'read_developer',
    group: 'developers',
  },
  {
    to: '/projects/$project/$mode/event-log',
    text: 'events',
    icon: 'list',
    key: 'e',
    needs: 'read_developer',
    group: 'developers',
  },
  {
    to: '/projects/$project/$mode/requests',
    text: 'requests',
    icon: 'terminal',
    key: 'r',
    needs: 'read_developer',
    group: 'developers',
  },
  {
    to: '/projects/$project/$mode/settings',
    text: 'settings',
    icon: 'settings',
    key: 'o',
    needs: 'manage_settings',
    group: 'settings',
  },
  {
    to: '/projects/$project/$mode/people',
    text: 'people',
    icon: 'user',
    key: 'u',
    needs: 'read_people',
    group: 'settings',
  },
  {
    to: '/projects/$project/$mode/audit',
    text: 'audit',
    icon: 'shield',
    key: 'l',
    needs: 'read_audit',
    group: 'settings',
  },
] as const satisfies readonly {
  readonly to: `/projects/$project/$mode${string}`;
  readonly text: TextKey;
  readonly icon: IconName;
  readonly key: string;
  readonly needs: Action;
  readonly group: PageGroup | null;
}[];
type PageEntry = (typeof PAGES)[number];

/** The pages that the person's roles permit, in the project and in all of them. The server checks this too. */
export function pagesFor(project: SessionProject, session: SignedIn): readonly PageEntry[] {
  return PAGES.filter((page) => permits(page, project, session));
}

/**
 * The page of a route, in which it is or below which it lies.
 *
 * @param route the pattern of its path, such as `/projects/$project/$mode/payments/$payment`
 */
export function pageOf(route: string): PageEntry | undefined {
  return PAGES.find(({ to, text }) => route === to || (text !== 'home' && route.startsWith(`${to}/`)));
}

/** Whether the person's roles permit the page of a route. */
export function mayOpen(route: string, project: SessionProject, session: SignedIn): boolean {
  const page = pageOf(route);
  return page === undefined || permits(page, project, session);
}

function permits({ needs }: PageEntry, { actions }: SessionProject, { person }: SignedIn): boolean {
  return actions.includes(needs) || person.actions.includes(needs);
}
