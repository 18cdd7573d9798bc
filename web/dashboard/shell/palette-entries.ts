import { useNavigate } from '@tanstack/react-router';
import type { SearchHit } from '../../../src/http/dashboard/payment-list/contract.ts';
import { useLocale } from '../locale.tsx';
import { firstMode, type Scope } from '../scope.ts';
import { useSignedIn } from '../session.ts';
import type { IconName } from '../ui/icons.tsx';
import { pagesFor } from './pages.ts';
import { useSignOut } from './account-button.tsx';

export interface PaletteEntry {
  readonly key: string;
  readonly icon: IconName;
  readonly text: string;
  readonly detail?: string;
  /** The keyboard shortcut. */
  readonly keys?: string;
  readonly run: () => void;
}

/** The palette's results: matching payments, then pages, projects and actions whose names contain the words. */
export function usePaletteEntries(
  scope: Scope | null,
  text: string,
  hits: readonly SearchHit[],
  onHelp: () => void,
): readonly PaletteEntry[] {
  const { t, fiat } = useLocale();
  const navigate = useNavigate();
  const words = text.toLowerCase().split(/\s+/);
  const fixed = useFixedEntries(scope, onHelp);
  const found = hits.map(({ found_by, payment }): PaletteEntry => {
    const { mode } = payment;
    const detail = [
      t(`status_${payment.status}`),
      t(`found_${found_by}`),
      mode === scope?.mode ? '' : t(`found_in_${mode}`),
    ];
    return {
      key: payment.id,
      icon: 'payments',
      text: `${fiat(payment.amount, payment.currency)} · ${payment.order_id ?? payment.transaction_number ?? payment.id}`,
      detail: detail.filter((part) => part !== '').join(' · '),
      run: () => {
        if (scope === null) return;
        void navigate({
          to: '/projects/$project/$mode/payments/$payment',
          params: { project: scope.project, mode, payment: payment.id },
        });
      },
    };
  });
  return [...found, ...fixed.filter((entry) => words.every((word) => entry.text.toLowerCase().includes(word)))];
}

function useFixedEntries(scope: Scope | null, onHelp: () => void): readonly PaletteEntry[] {
  const { t } = useLocale();
  const navigate = useNavigate();
  const signOut = useSignOut();
  const session = useSignedIn();
  const { projects } = session;
  const project = projects.find(({ id }) => id === scope?.project);
  const pages = scope === null || project === undefined ? [] : pagesFor(project, session);
  return [
    ...pages.map((page) => ({
      key: page.to,
      icon: page.icon,
      text: t(page.text),
      keys: `g ${page.key}`,
      run: () => void navigate({ to: page.to, params: scope ?? { project: '', mode: '' } }),
    })),
    ...(scope === null ? [] : [modeEntry(scope)]),
    ...projects
      .filter((one) => one !== project)
      .map((one) => ({
        key: one.id,
        icon: 'arrow-right' as const,
        text: t('project_named', { name: one.name }),
        run: () => go({ project: one.id, mode: firstMode(one) }),
      })),
    { key: 'account', icon: 'user', text: t('account_settings'), run: () => void navigate({ to: '/account' }) },
    { key: 'help', icon: 'keyboard', text: t('shortcuts'), keys: '?', run: onHelp },
    { key: 'sign-out', icon: 'sign-out', text: t('sign_out'), run: () => void signOut() },
  ];

  function go(params: Scope): void {
    void navigate({ to: '/projects/$project/$mode', params });
  }

  function modeEntry({ project, mode }: Scope): PaletteEntry {
    const other = mode === 'test' ? 'live' : 'test';
    return { key: 'mode', icon: 'flask', text: t(`switch_to_${other}`), run: () => go({ project, mode: other }) };
  }
}
