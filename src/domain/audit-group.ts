/** What the audit log can be narrowed to, and how the names of those actions begin: `key` of `key.create`. */
export const AUDIT_GROUPS = {
  attention: ['attention'],
  audit: ['audit'],
  key: ['key'],
  payment: ['payment'],
  person: ['person', 'totp', 'passkey', 'recovery_codes'],
  project: ['project'],
  refund: ['refund'],
  session: ['session'],
  view: ['view'],
  wallet: ['wallet'],
  webhook: ['webhook'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type AuditGroup = keyof typeof AUDIT_GROUPS;
export const AUDIT_GROUP_NAMES = Object.keys(AUDIT_GROUPS) as readonly AuditGroup[];
