/**
 * The groups by which the audit log can be filtered: the first words of the names of actions, `key` of `key.create`.
 * The database's function `audit_group` counts second factors among `person`.
 */
export const AUDIT_GROUPS = [
  'attention',
  'audit',
  'key',
  'payment',
  'person',
  'project',
  'refund',
  'report',
  'session',
  'sweep',
  'view',
  'wallet',
  'webhook',
] as const;
export type AuditGroup = (typeof AUDIT_GROUPS)[number];
