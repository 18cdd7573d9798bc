import { createHash } from 'node:crypto';

/** A name for exactly these values: the same for the same ones, another for any others. */
export function digestOf(values: unknown): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('hex');
}
