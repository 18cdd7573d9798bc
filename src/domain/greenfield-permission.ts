import { parseUuid } from './id.ts';
import type { KeyGrant, Scope } from './permission.ts';

interface PermissionRow {
  /** The scope that the permission needs; null: every key of the project has it. */
  readonly scope: Scope | null;
  readonly isRead?: true;
  /** Whether a key shows it. Plugins refuse keys that could change the shop itself, which no key of ours can. */
  readonly isHidden?: true;
}

/** The permissions of BTCPay Server that its shop plugins ask for. */
const TABLE = {
  'btcpay.store.canviewinvoices': { scope: 'payments:read', isRead: true },
  'btcpay.store.cancreateinvoice': { scope: 'payments:create' },
  'btcpay.store.canviewstoresettings': { scope: null, isRead: true },
  'btcpay.store.canmodifyinvoices': { scope: 'payments:change' },
  'btcpay.store.webhooks.canmodifywebhooks': { scope: 'webhooks' },
  'btcpay.store.cancreatenonapprovedpullpayments': { scope: 'refunds' },
  // PrestaShop asks for it to manage its webhooks, and reads it back from the wizard alone.
  'btcpay.store.canmodifystoresettings': { scope: 'webhooks', isHidden: true },
} as const satisfies Readonly<Record<string, PermissionRow>>;

export type GreenfieldPermission = keyof typeof TABLE;
const ALL = Object.keys(TABLE) as readonly GreenfieldPermission[];
const rowOf = (permission: GreenfieldPermission): PermissionRow => TABLE[permission];

export type AskedPermissions =
  | {
      readonly kind: 'asked';
      /** Each once, in the order of the request, without a store. */
      readonly permissions: readonly GreenfieldPermission[];
      /** The scopes of a key for them, at least one. */
      readonly scopes: readonly Scope[];
      /** The only project that they were asked for; null: the person chooses one. */
      readonly projectId: string | null;
    }
  /** Nothing is asked for that a key could be made for. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'unknown'; readonly permission: string };

/** Reads permissions as plugins ask for them: `btcpay.store.canviewinvoices`, or the same with `:` and a store's id. */
export function readGreenfieldPermissions(asked: readonly string[]): AskedPermissions {
  const permissions = new Set<GreenfieldPermission>();
  const projects = new Set<string | null>();
  for (const text of asked) {
    const [name, ...stores] = text.split(':');
    const permission = ALL.find((one) => one === name);
    for (const store of stores) projects.add(parseUuid(store));
    const isStoreBad = stores.length > 1 || projects.has(null) || projects.size > 1;
    if (permission === undefined || isStoreBad) return { kind: 'unknown', permission: text };
    permissions.add(permission);
  }
  const scopes = new Set([...permissions].flatMap((permission) => rowOf(permission).scope ?? []));
  if (scopes.size === 0) return { kind: 'nothing' };
  const [projectId = null] = projects;
  return { kind: 'asked', permissions: [...permissions], scopes: [...scopes], projectId };
}

/**
 * The permissions that a key shows to plugins. They compare the list with their own, and refuse a key that has one too
 * many, so a key with scopes shows no more than these.
 */
export function greenfieldPermissionsOf({
  permission: level,
  scopes,
}: Pick<KeyGrant, 'permission' | 'scopes'>): readonly GreenfieldPermission[] {
  return ALL.filter((permission) => {
    const { scope, isRead = false, isHidden = false } = rowOf(permission);
    if (isHidden || scope === null) return !isHidden;
    return scopes === null ? level === 'full' || level === (isRead ? 'read' : 'write') : scopes.includes(scope);
  });
}
