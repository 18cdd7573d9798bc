import { operationsOf, type KeyGrant, type Mode, type Operation } from './permission.ts';
import { sentence, type Sentence, type SentenceValues } from './sentence.ts';

export const ROLES = ['owner', 'admin', 'developer', 'support', 'viewer', 'cashier'] as const;
/** The roles of people, in one project or in all projects, present and future. */
export type Role = (typeof ROLES)[number];

interface ActionRow {
  readonly roles: readonly Role[];
  /** `project`: a role in the project counts; `service`: only a role in all projects counts. */
  readonly within: 'project' | 'service';
  /** Requires reauthentication if the last one is older than `REAUTHENTICATION_MS`. */
  readonly isDangerous?: true;
}

/** Who may do what: the single source of all permissions. */
const ACTIONS_TABLE = {
  read_payments: {
    roles: ['owner', 'admin', 'developer', 'support', 'viewer'],
    within: 'project',
  },
  change_test_payments: {
    roles: ['owner', 'admin', 'developer', 'support'],
    within: 'project',
  },
  change_live_payments: {
    roles: ['owner', 'admin', 'support'],
    within: 'project',
  },
  /** Makes invoices at the till, and sees those that the same person made today. */
  use_till: {
    roles: ['owner', 'admin', 'support', 'cashier'],
    within: 'project',
  },
  share_views: {
    roles: ['owner', 'admin', 'developer', 'support'],
    within: 'project',
  },
  write_notes: {
    roles: ['owner', 'admin', 'developer', 'support'],
    within: 'project',
  },
  delete_notes: {
    roles: ['owner', 'admin'],
    within: 'project',
  },
  request_refunds: {
    roles: ['owner', 'admin', 'support'],
    within: 'project',
  },
  create_refunds: {
    roles: ['owner', 'admin'],
    within: 'project',
  },
  read_developer: {
    roles: ['owner', 'admin', 'developer'],
    within: 'project',
  },
  manage_test_keys: {
    roles: ['owner', 'admin', 'developer'],
    within: 'project',
  },
  manage_live_keys: {
    roles: ['owner', 'admin', 'developer'],
    within: 'project',
    isDangerous: true,
  },
  manage_webhooks: {
    roles: ['owner', 'admin', 'developer'],
    within: 'project',
  },
  read_wallets: {
    roles: ['owner', 'admin'],
    within: 'project',
  },
  send_sweeps: {
    roles: ['owner', 'admin'],
    within: 'project',
  },
  manage_wallets: {
    roles: ['owner', 'admin'],
    within: 'project',
    isDangerous: true,
  },
  manage_settings: {
    roles: ['owner', 'admin'],
    within: 'project',
  },
  deactivate_project: {
    roles: ['owner'],
    within: 'project',
    isDangerous: true,
  },
  export_project: {
    roles: ['owner', 'admin'],
    within: 'project',
    isDangerous: true,
  },
  delete_customer_data: {
    roles: ['owner'],
    within: 'project',
    isDangerous: true,
  },
  read_audit: {
    roles: ['owner', 'admin'],
    within: 'project',
  },
  read_service_audit: {
    roles: ['owner', 'admin'],
    within: 'service',
  },
  read_people: {
    roles: ['owner', 'admin'],
    within: 'service',
  },
  manage_people: {
    roles: ['owner'],
    within: 'service',
    isDangerous: true,
  },
  create_projects: {
    roles: ['owner'],
    within: 'service',
  },
} as const satisfies Readonly<Record<string, ActionRow>>;

export type Action = keyof typeof ACTIONS_TABLE;
type ActionWithin<Place extends ActionRow['within']> = {
  [Name in Action]: (typeof ACTIONS_TABLE)[Name]['within'] extends Place ? Name : never;
}[Action];
/** An action within one project. */
export type ProjectAction = ActionWithin<'project'>;

export const ACTIONS = Object.keys(ACTIONS_TABLE) as readonly Action[];

/** How long reauthentication lasts for dangerous actions. */
export const REAUTHENTICATION_MS = 10 * 60_000;

const rowOf = (action: Action): ActionRow => ACTIONS_TABLE[action];

/** Whether a role permits an action; null is no role. */
export function mayDo(role: Role | null, action: Action): boolean {
  return rowOf(action).roles.some((one) => one === role);
}

export function isProjectAction(action: Action): action is ProjectAction {
  return rowOf(action).within === 'project';
}

export function isDangerous(action: Action): boolean {
  return rowOf(action).isDangerous === true;
}

/** The actions that a role permits in a project, or on the service as a whole. */
export function actionsOf(role: Role | null, within: ActionRow['within']): readonly Action[] {
  return ACTIONS.filter((action) => rowOf(action).within === within && mayDo(role, action));
}

/** Why a person may not do an action, with the way out. */
export function refusalOf(role: Role | null, action: Action): Sentence {
  const { roles, within } = rowOf(action);
  const values = { who: whoHas(role), action: sentence(`may_${action}`), roles: roles.map(nameOf) };
  return within === 'service' ? sentence('not_in_all_projects', values) : sentence('not_with_role', values);
}

const nameOf = (role: Role): Sentence => sentence(`role_${role}`);

function whoHas(role: Role | null): Sentence {
  return role === null ? sentence('without_role') : sentence('with_role', { role: nameOf(role) });
}

/** The action that changes payments, by mode. */
export const CHANGE_PAYMENTS = {
  test: 'change_test_payments',
  live: 'change_live_payments',
} as const satisfies Readonly<Record<Mode, ProjectAction>>;

/** The action that manages keys, by mode. */
export const MANAGE_KEYS = {
  test: 'manage_test_keys',
  live: 'manage_live_keys',
} as const satisfies Readonly<Record<Mode, ProjectAction>>;

/**
 * The people's actions that the holder of a live key can do. In test mode no money moves, and keys may have everything.
 */
const LIVE_KEY_ACTIONS = {
  create_payment: 'change_live_payments',
  create_request: 'change_live_payments',
  read_payment: 'read_payments',
  read_payments: 'read_payments',
  change_payment: 'change_live_payments',
  read_refunds: 'read_payments',
  change_refund: 'create_refunds',
  read_events: 'read_developer',
  resend_event: 'manage_webhooks',
  read_webhooks: 'read_developer',
  change_webhooks: 'manage_webhooks',
} as const satisfies Readonly<Record<Operation, ProjectAction>>;

/** The action that a key would permit but the role does not, so that the person may not make the key. Null: none. */
export function beyondRole(role: Role | null, key: KeyGrant & { readonly mode: Mode }): ProjectAction | null {
  if (key.mode === 'test') return null;
  const actions = operationsOf(key).map((operation) => LIVE_KEY_ACTIONS[operation]);
  return actions.find((action) => !mayDo(role, action)) ?? null;
}

/** The values of `beyond_role`, the refusal of a key that a person may not make. */
export function keyRefusalOf(
  role: Role | null,
  action: ProjectAction,
): Readonly<Record<'who' | 'action' | 'roles', SentenceValues[string]>> {
  const makers = rowOf(action).roles.filter((one) => mayDo(one, MANAGE_KEYS.live));
  return { who: whoHas(role), action: sentence(`may_${action}`), roles: makers.map(nameOf) };
}

export interface Membership {
  /** Null: in all projects, present and future. */
  readonly projectId: string | null;
  readonly role: Role;
}

/** The role in a project: the project's own, or else the one in all projects. With null, the role in all projects. */
export function roleIn(memberships: readonly Membership[], projectId: string | null): Role | null {
  const everywhere = memberships.find((one) => one.projectId === null)?.role ?? null;
  return memberships.find((one) => one.projectId === projectId)?.role ?? everywhere;
}

/** The projects whose own role, which precedes the one in all projects, does not permit the action. */
export function projectsWithout(memberships: readonly Membership[], action: ProjectAction): readonly string[] {
  return memberships.flatMap(({ projectId, role }) => (projectId === null || mayDo(role, action) ? [] : [projectId]));
}
