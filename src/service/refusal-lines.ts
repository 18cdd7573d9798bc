import type { Logger } from 'pino';
import type { Problems } from '../domain/problems.ts';

/** A refused person: a wrong sign-in or reauthentication, or a request that the person's role does not allow. */
export interface PersonRefused {
  readonly what: 'sign-in' | 'proof' | 'request';
  /** A sentence of this program, without any text that the person typed. */
  readonly reason: string;
  /** The person's id; null: nobody has the e-mail address. */
  readonly person: string | null;
  /** The client's IP address. */
  readonly client: string;
  readonly request: string | null;
}

const WINDOW_MS = 60_000;
/** The most lines a minute of one person, of everybody without an account together, and of one address. */
const OF_PERSON = 10;
const OF_UNKNOWN = 60;
const OF_CLIENT = 30;

/**
 * Logs each refusal on a line of its own, so that the log shows afterwards which accounts were tried and from where
 * (ASVS 5, 16.3.1, 16.3.2). A flood at one account or from one address does not hide refusals of another; the problems
 * count the refusals beyond the limits.
 */
export function createRefusalLines(
  log: Logger,
  problems: Problems,
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
      problems.happened('refusals', 'there were more refusals for one account or address than are logged', details);
      return;
    }
    for (const name of [ofPerson, ofClient]) lines.set(name, (lines.get(name) ?? 0) + 1);
    const fields = { kind: 'refusal', what, reason, person: person ?? 'none', client };
    log.info(request === null ? fields : { ...fields, request }, `${what} refused: ${reason}`);
  };
}
