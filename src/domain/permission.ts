export const MODES = ['test', 'live'] as const;
/** Test mode is the sandbox: no money moves. */
export type Mode = (typeof MODES)[number];

/** One mode of a project. */
export interface ProjectMode {
  readonly projectId: string;
  readonly mode: Mode;
}

export const KEY_KINDS = ['secret', 'public'] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

export const PERMISSIONS = ['full', 'read', 'write'] as const;
/** Full Access, Read Only, Write Only (create and update, no delete). */
export type Permission = (typeof PERMISSIONS)[number];

export const SCOPES = ['payments:create', 'payments:read', 'payments:change', 'refunds', 'webhooks', 'events'] as const;
/** A part of the APIs' operations, for keys with less than a permission gives. */
export type Scope = (typeof SCOPES)[number];

interface OperationRow {
  readonly scope: Scope;
  /** Whether the operation reads: Read Only keys may do these, Write Only keys all others. */
  readonly isRead: boolean;
  /** Whether public keys may do it too. */
  readonly isPublic: boolean;
}

/** The operations of requests. Every route of both APIs names one of these operations, and thereby its scope. */
const OPERATIONS = {
  create_payment: { scope: 'payments:create', isRead: false, isPublic: true },
  create_request: { scope: 'payments:create', isRead: false, isPublic: false },
  read_payment: { scope: 'payments:read', isRead: true, isPublic: true },
  read_payments: { scope: 'payments:read', isRead: true, isPublic: false },
  change_payment: { scope: 'payments:change', isRead: false, isPublic: false },
  read_refunds: { scope: 'refunds', isRead: true, isPublic: false },
  change_refund: { scope: 'refunds', isRead: false, isPublic: false },
  read_events: { scope: 'events', isRead: true, isPublic: false },
  resend_event: { scope: 'events', isRead: false, isPublic: false },
  read_webhooks: { scope: 'webhooks', isRead: true, isPublic: false },
  change_webhooks: { scope: 'webhooks', isRead: false, isPublic: false },
} as const satisfies Readonly<Record<string, OperationRow>>;

export type Operation = keyof typeof OPERATIONS;
const OPERATION_NAMES = Object.keys(OPERATIONS) as readonly Operation[];

/** The scopes that a public key can have. */
export const PUBLIC_SCOPES: readonly Scope[] = ['payments:create', 'payments:read'];

/** The rights of a key: a permission or scopes, never both. */
export interface KeyGrant {
  readonly kind: KeyKind;
  readonly permission: Permission | null;
  readonly scopes: readonly Scope[] | null;
}

/** Whether a key may do an operation. The message of a refusal says what the key has and what is required. */
export function checkPermission(
  { kind, permission, scopes }: KeyGrant,
  operation: Operation,
): { readonly kind: 'allowed' } | { readonly kind: 'refused'; readonly message: string } {
  const { scope, isRead, isPublic } = OPERATIONS[operation];
  if (kind === 'public' && !isPublic) {
    return {
      kind: 'refused',
      message:
        'A public key can only create a payment and read one payment by its id. Use a secret key on your server.',
    };
  }
  if (scopes !== null) {
    if (scopes.includes(scope)) return { kind: 'allowed' };
    return { kind: 'refused', message: `This API key has the scopes ${scopes.join(', ')}. This call needs ${scope}.` };
  }
  if (permission === 'full' || permission === (isRead ? 'read' : 'write')) return { kind: 'allowed' };
  const [has, needed] = isRead ? ['Write Only and cannot read', 'Read Only'] : ['Read Only', 'Write Only'];
  const way = `Use a Full Access or ${needed} key, or one with the scope ${scope}.`;
  return { kind: 'refused', message: `This API key is ${has}. ${way}` };
}

/** All operations that a key may do. */
export function operationsOf(key: KeyGrant): readonly Operation[] {
  return OPERATION_NAMES.filter((operation) => checkPermission(key, operation).kind === 'allowed');
}
