import { createHash } from 'node:crypto';

/** A digest that is equal for equal values and differs for others. */
export function digestOf(values: unknown): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('hex');
}
