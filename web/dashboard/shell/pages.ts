import type { Action } from '../../../src/domain/role.ts';
import type { SessionProject, SignedIn } from '../../../src/http/dashboard/account/contract.ts';
import type { IconName } from '../ui/icons.tsx';

interface PageEntry {
  readonly to:
    | '/projects/$project/$mode'
    | `/projects/$project/$mode/${'attention' | 'payments' | 'refunds' | 'reports' | 'wallets' | 'sweeps' | 'keys' | 'webhooks' | 'event-log' | 'requests' | 'settings' | 'people' | 'audit'}`;
  readonly text:
    | 'home'
    | 'attention'
    | 'payments'
    | 'refunds'
    | 'reports'
    | 'wallets'
    | 'sweeps'
    | 'keys'
    | 'webhooks'
    | 'events'
    | 'requests'
    | 'settings'
    | 'people'
    | 'audit';
  readonly icon: IconName;
  /** The key after `g`. */
  readonly key: string;
  /** Whether it is current only at its own path, not on pages below. */
  readonly isExact: boolean;
  readonly needs: Action;
}

/** The pages of a project, in the order of the navigation. */
const PAGES: readonly PageEntry[] = [
  { to: '/projects/$project/$mode', text: 'home', icon: 'home', key: 'h', isExact: true, needs: 'read_payments' },
  {
    to: '/projects/$project/$mode/attention',
    text: 'attention',
    icon: 'bolt',
    key: 'a',
    isExact: false,
    needs: 'read_payments',
  },
  {
    to: '/projects/$project/$mode/payments',
    text: 'payments',
    icon: 'payments',
    key: 'p',
    isExact: false,
    needs: 'read_payments',
  },
  {
    to: '/projects/$project/$mode/refunds',
    text: 'refunds',
    icon: 'refund',
    key: 'f',
    isExact: false,
    needs: 'read_payments',
  },
  {
    to: '/projects/$project/$mode/reports',
    text: 'reports',
    icon: 'report',
    key: 't',
    isExact: false,
    needs: 'read_payments',
  },
  {
    to: '/projects/$project/$mode/wallets',
    text: 'wallets',
    icon: 'wallet',
    key: 'c',
    isExact: false,
    needs: 'read_wallets',
  },
  {
    to: '/projects/$project/$mode/sweeps',
    text: 'sweeps',
    icon: 'sweep',
    key: 's',
    isExact: false,
    needs: 'read_wallets',
  },
  {
    to: '/projects/$project/$mode/keys',
    text: 'keys',
    icon: 'key',
    key: 'k',
    isExact: false,
    needs: 'read_developer',
  },
  {
    to: '/projects/$project/$mode/webhooks',
    text: 'webhooks',
    icon: 'webhook',
    key: 'w',
    isExact: false,
    needs: 'read_developer',
  },
  {
    to: '/projects/$project/$mode/event-log',
    text: 'events',
    icon: 'list',
    key: 'e',
    isExact: false,
    needs: 'read_developer',
  },
  {
    to: '/projects/$project/$mode/requests',
    text: 'requests',
    icon: 'terminal',
    key: 'r',
    isExact: false,
    needs: 'read_developer',
  },
  {
    to: '/projects/$project/$mode/settings',
    text: 'settings',
    icon: 'settings',
    key: 'o',
    isExact: false,
    needs: 'manage_settings',
  },
  {
    to: '/projects/$project/$mode/people',
    text: 'people',
    icon: 'user',
    key: 'u',
    isExact: false,
    needs: 'read_people',
  },
  {
    to: '/projects/$project/$mode/audit',
    text: 'audit',
    icon: 'shield',
    key: 'l',
    isExact: false,
    needs: 'read_audit',
  },
];

/** The pages that the person's roles permit, in the project and in all of them. The server checks this too. */
export function pagesFor(project: SessionProject, session: SignedIn): readonly PageEntry[] {
  return PAGES.filter((page) => permits(page, project, session));
}

/**
 * Whether the person's roles permit what stands at a route.
 *
 * @param route the pattern of its path, such as `/projects/$project/$mode/payments/$payment`
 */
export function mayOpen(route: string, project: SessionProject, session: SignedIn): boolean {
  const page = PAGES.find(({ to, isExact }) => route === to || (!isExact && route.startsWith(`${to}/`)));
  return page === undefined || permits(page, project, session);
}

function permits({ needs }: PageEntry, { actions }: SessionProject, { person }: SignedIn): boolean {
  return actions.includes(needs) || person.actions.includes(needs);
}
