import type { Action } from '../../../src/domain/role.ts';
import type { SessionProject } from '../../../src/http/dashboard/contract/account.ts';
import type { IconName } from '../ui/icons.tsx';

interface PageEntry {
  readonly to:
    | '/projects/$project/$mode'
    | '/projects/$project/$mode/attention'
    | '/projects/$project/$mode/payments'
    | '/projects/$project/$mode/webhooks'
    | '/projects/$project/$mode/event-log'
    | '/projects/$project/$mode/requests';
  readonly text: 'home' | 'attention' | 'payments' | 'webhooks' | 'events' | 'requests';
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
];

/** The pages that the person's role permits. The server checks this too. */
export function pagesFor({ actions }: SessionProject): readonly PageEntry[] {
  return PAGES.filter(({ needs }) => actions.includes(needs));
}
