import { describe, expect, it } from 'vitest';
import { KEY_KINDS, PERMISSIONS, checkPermission, type Operation } from './permission.ts';

const OPERATIONS: readonly Operation[] = ['create_payment', 'read_payment', 'read', 'write'];

/** The whole of "Permissions" and "Public keys": what each key may do, all else is refused. */
const ALLOWED: Readonly<Record<string, readonly Operation[]>> = {
  'secret full': ['create_payment', 'read_payment', 'read', 'write'],
  'secret read': ['read_payment', 'read'],
  'secret write': ['create_payment', 'write'],
  'public full': ['create_payment', 'read_payment'],
  'public read': ['read_payment'],
  'public write': ['create_payment'],
};

const TABLE = KEY_KINDS.flatMap((kind) =>
  PERMISSIONS.flatMap((permission) =>
    OPERATIONS.map((operation) => {
      const allowed = ALLOWED[`${kind} ${permission}`]?.includes(operation) === true;
      return { kind, permission, operation, answer: allowed ? 'allowed' : 'refused' };
    }),
  ),
);

describe('a key', () => {
  it.each(TABLE)('of kind $kind and permission $permission is $answer to $operation', (row) => {
    expect(checkPermission(row, row.operation).kind).toBe(row.answer);
  });

  it('that is refused names its permission and the required one', () => {
    const message = (
      kind: 'secret' | 'public',
      permission: 'full' | 'read' | 'write',
      operation: Operation,
    ): string => {
      const answer = checkPermission({ kind, permission }, operation);
      return answer.kind === 'refused' ? answer.message : '';
    };
    expect(message('secret', 'read', 'write')).toMatch(/Read Only.*Full Access or Write Only/);
    expect(message('secret', 'write', 'read')).toMatch(/Write Only.*Full Access or Read Only/);
    expect(message('public', 'full', 'read')).toMatch(/public key.*secret key/i);
  });
});
