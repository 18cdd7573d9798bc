import type { Exception } from '../../../../src/domain/payment.ts';
import type { PaymentStatus } from '../../../../src/domain/status.ts';

/** The filters of the list of payments, as in the URL. */
export interface PaymentsSearch {
  /** One of `STATUS_GROUPS`. */
  readonly status?: StatusGroup;
  readonly exception?: Exclude<Exception, 'none'>;
  /** An id, transaction number, order id, e-mail, hash or address. */
  readonly search?: string;
  readonly period?: Period;
  /** The id of the payment in the panel beside the list. */
  readonly show?: string;
}

/** Changes to the filters; undefined removes one. */
export type SearchChange = { readonly [Key in keyof PaymentsSearch]?: PaymentsSearch[Key] | undefined };

/** The nine statuses of the state machine in groups, because nine are too many to choose from. */
export const STATUS_GROUPS = {
  open: ['created', 'prepared', 'pending'],
  confirming: ['processing', 'confirming'],
  completed: ['completed'],
  failed: ['failed'],
  expired: ['expired'],
  cancelled: ['cancelled'],
} as const satisfies Readonly<Record<string, readonly PaymentStatus[]>>;
export type StatusGroup = keyof typeof STATUS_GROUPS;

export const PERIODS = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 } as const;
export type Period = keyof typeof PERIODS;

export const UNUSUAL = ['underpaid', 'overpaid', 'paid_late', 'reorged'] as const;

const MAX_SEARCH = 255;

/** Reads the known filters from the URL and ignores everything else. */
export function paymentsSearch(given: Readonly<Record<string, unknown>>): PaymentsSearch {
  const { status, exception, search, period, show } = given;
  const unusual = UNUSUAL.find((one) => one === exception);
  return {
    ...(isKeyOf(STATUS_GROUPS, status) && { status }),
    ...(unusual !== undefined && { exception: unusual }),
    ...(typeof search === 'string' && search !== '' && { search: search.slice(0, MAX_SEARCH) }),
    ...(isKeyOf(PERIODS, period) && { period }),
    ...(typeof show === 'string' && show !== '' && { show }),
  };
}

/** Whether any filter is set. */
export function isNarrowed({ status, exception, search, period }: PaymentsSearch): boolean {
  return [status, exception, search, period].some((value) => value !== undefined);
}

function isKeyOf<Table extends object>(table: Table, key: unknown): key is keyof Table {
  return typeof key === 'string' && Object.hasOwn(table, key);
}
