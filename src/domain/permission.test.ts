import { describe, expect, it } from 'vitest';
import {
  checkPermission,
  KEY_KINDS,
  operationsOf,
  PERMISSIONS,
  PUBLIC_SCOPES,
  SCOPES,
  type KeyGrant,
  type Operation,
} from './permission.ts';

const OPERATIONS = [
  'create_payment',
  'create_request',
  'read_payment',
  'read_payments',
  'change_payment',
  'read_refunds',
  'change_refund',
  'read_events',
  'resend_event',
  'read_webhooks',
  'change_webhooks',
] as const satisfies readonly Operation[];

/** The whole of "Permissions", "Public keys" and scopes: what each key may do, all else is refused. */
const ALLOWED: Readonly<Record<string, readonly Operation[]>> = {
  'secret full': OPERATIONS,
  'secret read': ['read_payment', 'read_payments', 'read_refunds', 'read_events', 'read_webhooks'],
  'secret write': [
    'create_payment',
    'create_request',
    'change_payment',
    'change_refund',
    'resend_event',
    'change_webhooks',
  ],
  'public full': ['create_payment', 'read_payment'],
  'public read': ['read_payment'],
  'public write': ['create_payment'],
  'secret payments:create': ['create_payment', 'create_request'],
  'secret payments:read': ['read_payment', 'read_payments'],
  'secret payments:change': ['change_payment'],
  'secret refunds': ['read_refunds', 'change_refund'],
  'secret webhooks': ['read_webhooks', 'change_webhooks'],
  'secret events': ['read_events', 'resend_event'],
  'public payments:create': ['create_payment'],
  'public payments:read': ['read_payment'],
};

const GRANTS: readonly KeyGrant[] = KEY_KINDS.flatMap((kind) => [
  ...PERMISSIONS.map((permission) => ({ kind, permission, scopes: null })),
  ...(kind === 'public' ? PUBLIC_SCOPES : SCOPES).map((scope) => ({ kind, permission: null, scopes: [scope] })),
]);
const nameOf = ({ kind, permission, scopes }: KeyGrant): string => `${kind} ${permission ?? scopes?.join(' ')}`;

describe('a key', () => {
  it.each(GRANTS.map((grant) => [nameOf(grant), grant] as const))('%s may do exactly what it is for', (name, grant) => {
    expect(operationsOf(grant)).toEqual(ALLOWED[name]);
  });

  const refusal = (grant: Partial<KeyGrant>, operation: Operation): string => {
    const answer = checkPermission({ kind: 'secret', permission: null, scopes: null, ...grant }, operation);
    return answer.kind === 'refused' ? answer.message : '';
  };

  it('that is refused names its permission and the required ones', () => {
    expect(refusal({ permission: 'read' }, 'change_refund')).toBe(
      'This API key is Read Only. Use a Full Access or Write Only key, or one with the scope refunds.',
    );
    expect(refusal({ permission: 'write' }, 'read_payments')).toBe(
      'This API key is Write Only and cannot read. Use a Full Access or Read Only key, or one with the scope payments:read.',
    );
    expect(refusal({ kind: 'public', permission: 'full' }, 'read_payments')).toMatch(/public key.*secret key/i);
  });

  it('that is refused names its scopes and the required one', () => {
    expect(refusal({ scopes: ['payments:create', 'events'] }, 'read_refunds')).toBe(
      'This API key has the scopes payments:create, events. This call needs refunds.',
    );
  });
});
