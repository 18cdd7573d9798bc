import { sql } from 'kysely';
import { PAYMENT_APIS } from '../../domain/payment.ts';
import { isFinal, PAYMENT_STATUSES, type PaymentStatus } from '../../domain/status.ts';

/**
 * Payments that have ended stand in indexes of their own (`payments_ended_by_…`), which creations do not write to.
 * Whoever reads along one reads the others by their status beside it: they are few, for each has a deadline.
 */
export const ENDED_STATUSES: readonly PaymentStatus[] = PAYMENT_STATUSES.filter(isFinal);
export const RUNNING_STATUSES: readonly PaymentStatus[] = PAYMENT_STATUSES.filter((status) => !isFinal(status));

const literals = (values: readonly string[]) => sql.join(values.map((value) => sql.lit(value)));

/** As the indexes say it: the database has to see that a condition is theirs. */
export const HAS_ENDED = sql`status in (${literals(ENDED_STATUSES)})`;

/** Within a project and mode, along the index of statuses. */
export const IS_RUNNING = sql`surface in (${literals(PAYMENT_APIS)}) and status in (${literals(RUNNING_STATUSES)})`;
