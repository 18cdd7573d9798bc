import { argon2, timingSafeEqual } from 'node:crypto';
import type { RandomBytes } from '../../domain/clock.ts';
import { OverloadedError } from '../batch.ts';

/** The cost parameters of Argon2id. */
export interface HashCost {
  readonly memoryKiB: number;
  readonly passes: number;
}

/** OWASP recommends 46 MiB and one pass. With two passes a hash takes 140 ms on two cores. */
export const USUAL_COST: HashCost = { memoryKiB: 47_104, passes: 2 };

const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Two hashes take 92 MiB. Without a limit, many simultaneous guesses would exhaust the memory. */
const MAX_AT_ONCE = 2;
/**
 * The priority of a hash. `known`: somebody in a browser that they signed in with before, in a session or with an open
 * link. They go before every `stranger`.
 */
export type HashedFor = 'known' | 'stranger';

/** How many may wait, a few seconds' work. Further requests are refused. */
const MAX_WAITING: Readonly<Record<HashedFor, number>> = { known: 40, stranger: 20 };

/** Nothing was hashed, because too many are waiting already. */
export class HashesBusyError extends OverloadedError {
  readonly retryAfterSeconds = 10;
}

/** `$argon2id$v=19$m=47104,t=2,p=1$salt$hash`, base64 without padding. */
const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=1\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

export interface PasswordHasher {
  /** A PHC string. Runs with the priority `known`, because strangers cannot set passwords. */
  hash(password: string): Promise<string>;
  /**
   * Whether the password matches `stored`. Null never matches and takes just as long, so that the time does not reveal
   * whether an account exists.
   */
  verify(password: string, stored: string | null, whom: HashedFor): Promise<boolean>;
  /** Whether its cost differs from the current one. */
  isOutdated(stored: string): boolean;
}

/** Hashes passwords with Argon2id (RFC 9106), at most two at once. */
export function createPasswordHasher(random: RandomBytes, cost: HashCost = USUAL_COST): PasswordHasher {
  const inTurn = limitedTurns();
  const derive = (
    password: string,
    salt: Uint8Array,
    { memoryKiB, passes }: HashCost,
    whom: HashedFor,
  ): Promise<Buffer> =>
    inTurn(
      whom,
      () =>
        new Promise((resolve, reject) => {
          // Keyboards may encode the same password as different code points (NIST SP 800-63B, 3.1.1.2).
          const message = Buffer.from(password.normalize('NFKC'), 'utf8');
          const parameters = { message, nonce: salt, parallelism: 1, tagLength: HASH_BYTES, memory: memoryKiB, passes };
          argon2('argon2id', parameters, (error, key) => (error === null ? resolve(key) : reject(error)));
        }),
    );
  return {
    hash: async (password) => {
      const salt = Buffer.from(random(SALT_BYTES));
      const hash = await derive(password, salt, cost, 'known');
      return `$argon2id$v=19$m=${cost.memoryKiB},t=${cost.passes},p=1$${plain(salt)}$${plain(hash)}`;
    },
    verify: async (password, stored, whom) => {
      const parts = stored === null ? null : PHC.exec(stored);
      if (stored !== null && parts === null) throw new Error('A stored password hash is damaged.');
      const [, memory, passes, salt, expected] = parts ?? [];
      const found = await derive(
        password,
        salt === undefined ? Buffer.alloc(SALT_BYTES) : Buffer.from(salt, 'base64'),
        parts === null ? cost : { memoryKiB: Number(memory), passes: Number(passes) },
        whom,
      );
      return expected !== undefined && timingSafeEqual(found, Buffer.from(expected, 'base64'));
    },
    isOutdated: (stored) => !stored.startsWith(`$argon2id$v=19$m=${cost.memoryKiB},t=${cost.passes},p=1$`),
  };
}

const plain = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

/**
 * Runs two jobs at a time: known people first, each kind in order of arrival.
 *
 * @throws HashesBusyError if too many are waiting already
 */
export function limitedTurns(): <Result>(whom: HashedFor, work: () => Promise<Result>) => Promise<Result> {
  const waiting: Readonly<Record<HashedFor, (() => void)[]>> = { known: [], stranger: [] };
  let running = 0;
  return async (whom, work) => {
    if (running < MAX_AT_ONCE) running += 1;
    else if (waiting[whom].length >= MAX_WAITING[whom]) throw new HashesBusyError('Too many sign-ins wait already.');
    else await new Promise<void>((resolve) => waiting[whom].push(resolve));
    try {
      return await work();
    } finally {
      // The slot goes directly to whoever waits, so that newcomers cannot overtake.
      const next = waiting.known.shift() ?? waiting.stranger.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
