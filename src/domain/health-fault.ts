import { NETWORK_PROBLEMS } from './network-problem.ts';

/** The faults that the service's health names. */
export const HEALTH_FAULTS = [
  ...NETWORK_PROBLEMS,
  'network_warning',
  'lost_transfers',
  'endpoint_disabled',
  'endpoint_failing',
  'backup_failed',
  'backup_old',
  'clock',
] as const;
export type HealthFaultKind = (typeof HEALTH_FAULTS)[number];
