import type { Logger } from 'pino';
import type { Troubles } from '../domain/trouble.ts';

/** Somebody whose sign-in or proof was wrong, or who asked for what their role does not allow. */
export interface PersonRefused {
  readonly what: 'sign-in' | 'proof' | 'request';
  /** A sentence of this program, with nothing in it that was typed. */
  readonly reason: string;
  /** An id; null: the e-mail is nobody's. */
  readonly person: string | null;
  /** An address. */
  readonly client: string;
  readonly request: string | null;
}

const WINDOW_MS = 60_000;
/** How many lines a minute tell of one person, of everybody without an account together, and of one address. */
const OF_PERSON = 10;
const OF_UNKNOWN = 60;
const OF_CLIENT = 30;

/**
 * Logs each refusal by itself, so that the log tells afterwards who was tried and from where (ASVS 5, 16.3.1, 16.3.2).
 * A flood at one account, or from one address, hides none of another; the troubles count what is beyond the limits.
 */
export function createRefusalLines(
  log: Logger,
  troubles: Troubles,
  clock: () => number = () => performance.now(),
): (refusal: PersonRefused) => void {
  let windowAt = -Infinity;
  const lines = new Map<string, number>();
  const allows = (name: string, most: number): boolean => (lines.get(name) ?? 0) < most;
  return ({ what, reason, person, client, request }) => {
    const now = clock();
    if (now - windowAt >= WINDOW_MS) {
      windowAt = now;
      lines.clear();
    }
    const [ofPerson, ofClient] = [`person ${person ?? 'none'}`, `client ${client}`];
    if (!allows(ofPerson, person === null ? OF_UNKNOWN : OF_PERSON) || !allows(ofClient, OF_CLIENT)) {
      const details = { what, person: person ?? 'none', client };
      troubles.happened('refusals', 'there were more of one account or address than are logged', details);
      return;
    }
    for (const name of [ofPerson, ofClient]) lines.set(name, (lines.get(name) ?? 0) + 1);
    const fields = { kind: 'refusal', what, reason, person: person ?? 'none', client };
    log.info(request === null ? fields : { ...fields, request }, `${what} refused: ${reason}`);
  };
}
