import { useNavigate } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { useDashboard } from '../dashboard.ts';
import { chosenLanguage, useLocale } from '../locale.tsx';
import { problemText } from '../problem.ts';
import { modeInOther, useScopeInAddress, type Scope } from '../scope.ts';
import { useSignedIn } from '../session.ts';
import { loadTexts } from '../texts/load-texts.ts';
import type { TextPart } from '../texts/parts.ts';
import type { IconName } from '../ui/icons.tsx';
import { pagesFor } from './pages.ts';
import { useModeSwitch } from './mode-switch.ts';

/** A dialog that opens over any page. */
export type AnyDialog = ComponentType<{ readonly onClose: () => void }>;

/** The dialogs of the actions, with the texts that each needs, and the key after `n`: the one of its page after `g`. */
const ACTIONS = {
  payment: {
    key: 'p',
    texts: ['detail', 'list'],
    load: async () => (await import('../pages/payments/new-payment-dialog.tsx')).NewPaymentDialog,
  },
  refund: {
    key: 'f',
    texts: ['refunds', 'detail', 'list'],
    load: async () => (await import('../pages/refunds/new-refund-dialog.tsx')).NewRefundAnywhere,
  },
  key: {
    key: 'k',
    texts: ['keys'],
    load: async () => (await import('../pages/keys/key-dialogs.tsx')).CreateKeyDialog,
  },
  endpoint: {
    key: 'w',
    texts: ['webhooks'],
    load: async () => (await import('../pages/webhooks/endpoint-dialogs.tsx')).NewEndpointDialog,
  },
  person: {
    key: 'u',
    texts: ['people'],
    load: async () => (await import('../pages/people/role-dialogs.tsx')).NewPersonDialog,
  },
  project: {
    key: 'o',
    // The list of keys, which its module has too, uses them.
    texts: ['palette'],
    load: async () => (await import('./dialogs.tsx')).NewProjectDialog,
  },
} as const satisfies Readonly<
  Record<string, { readonly key: string; readonly texts: readonly TextPart[]; readonly load: () => Promise<AnyDialog> }>
>;
type ActionName = keyof typeof ACTIONS;
const ACTION_NAMES = Object.keys(ACTIONS) as readonly ActionName[];

/** An action that a person can take from every page, with its keys. */
export interface Command {
  readonly key: string;
  readonly group: 'do' | 'go' | 'switch';
  readonly icon: IconName;
  readonly text: string;
  /** One key, or two after each other with a space between them. */
  readonly keys: string;
  readonly run: () => void;
}

/**
 * The commands that the person's role permits in a project: they create things, open pages, and switch the project and
 * the mode.
 */
export function useCommands(scope: Scope | null, open: (dialog: AnyDialog) => void): readonly Command[] {
  const { t } = useLocale();
  const navigate = useNavigate();
  const session = useSignedIn();
  const dashboard = useDashboard();
  const isInProject = useScopeInAddress() !== null;
  const switchMode = useModeSwitch(scope ?? { project: '', mode: 'test' });
  const { person, projects } = session;
  const project = projects.find(({ id }) => id === scope?.project);
  const go = (params: Scope) => navigate({ to: '/projects/$project/$mode', params });
  const start = async (name: ActionName): Promise<void> => {
    const { texts, load } = ACTIONS[name];
    try {
      const [dialog] = await Promise.all([load(), loadTexts(chosenLanguage(), ...texts)]);
      // Its dialog works in the project of the address, which the account's page does not have.
      if (!isInProject && scope !== null) await go(scope);
      open(dialog);
    } catch (error) {
      dashboard.toast(problemText(error, t), 'problem');
    }
  };
  const others = projects.flatMap((one, index): readonly Command[] => {
    if (one === project) return [];
    const text = t('project_named', { name: one.name });
    const run = (): void => void go({ project: one.id, mode: modeInOther(one, scope) });
    return [{ key: one.id, group: 'switch', icon: 'arrow-right', text, keys: index < 9 ? `g ${index + 1}` : '', run }];
  });
  if (scope === null || project === undefined) return others;
  const { mode } = scope;
  const isPermitted: Readonly<Record<ActionName, boolean>> = {
    payment: project.actions.includes(`change_${mode}_payments`),
    refund: project.actions.includes('request_refunds'),
    key: project.actions.includes(`manage_${mode}_keys`),
    endpoint: project.actions.includes('manage_webhooks'),
    person: person.actions.includes('manage_people'),
    project: person.actions.includes('create_projects'),
  };
  return [
    ...ACTION_NAMES.filter((name) => isPermitted[name]).map((name): Command => {
      const { key } = ACTIONS[name];
      return {
        key: name,
        group: 'do',
        icon: 'plus',
        text: t(`do_${name}`),
        keys: `n ${key}`,
        run: () => void start(name),
      };
    }),
    ...pagesFor(project, session).map(({ to, icon, text, key }): Command => {
      const run = (): void => void navigate({ to, params: scope });
      return { key: to, group: 'go', icon, text: t(text), keys: `g ${key}`, run };
    }),
    {
      key: 'mode',
      group: 'switch',
      icon: 'flask',
      text: t(mode === 'test' ? 'switch_to_live' : 'switch_to_test'),
      keys: 'g m',
      run: switchMode,
    },
    ...others,
  ];
}
