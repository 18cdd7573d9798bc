export const MODES = ['test', 'live'] as const;
/** Test mode is the sandbox: no money. */
export type Mode = (typeof MODES)[number];

export const KEY_KINDS = ['secret', 'public'] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

export const PERMISSIONS = ['full', 'read', 'write'] as const;
/** Full Access, Read Only, Write Only (create and update, no delete). */
export type Permission = (typeof PERMISSIONS)[number];

/** What a request wants to do. A public key may only `create_payment` and `read_payment`. */
export type Operation = 'create_payment' | 'read_payment' | 'read' | 'write';

/** Whether a key may do an operation. The message of a refusal names the key's kind and what is required. */
export function checkPermission(
  key: { readonly kind: KeyKind; readonly permission: Permission },
  operation: Operation,
): { readonly kind: 'allowed' } | { readonly kind: 'refused'; readonly message: string } {
  if (key.kind === 'public' && operation !== 'create_payment' && operation !== 'read_payment') {
    return {
      kind: 'refused',
      message:
        'A public key can only create a payment and read one payment by its id. Use a secret key on your server.',
    };
  }
  const reads = operation === 'read_payment' || operation === 'read';
  if (reads && key.permission === 'write') {
    return {
      kind: 'refused',
      message: 'This API key is Write Only and cannot read. Use a Full Access or Read Only key.',
    };
  }
  if (!reads && key.permission === 'read') {
    return { kind: 'refused', message: 'This API key is Read Only. Use a Full Access or Write Only key.' };
  }
  return { kind: 'allowed' };
}
