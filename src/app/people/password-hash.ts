import { argon2, timingSafeEqual } from 'node:crypto';
import type { RandomBytes } from '../../domain/clock.ts';
import { OverloadedError } from '../batch.ts';

/** The cost parameters of Argon2id. */
export interface HashCost {
  readonly memoryKiB: number;
  readonly passes: number;
}

/** Above the 46 MiB and one pass that OWASP recommends: with two passes a hash takes 140 ms on two cores. */
export const USUAL_COST: HashCost = { memoryKiB: 47_104, passes: 2 };

const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Two hashes take 92 MiB. Without a limit, many simultaneous guesses would exhaust the memory. */
const MAX_AT_ONCE = 2;
/**
 * The party for whom a hash is made. `known`: a person in a session or in a browser that they signed in with before, by
 * the person's id; or an open link, by its hash. `stranger`: everybody else, by the range of their address.
 */
export interface HashedFor {
  readonly kind: 'known' | 'stranger';
  readonly id: string;
}

/** How many hashes may wait, a few seconds' work. Further requests are refused. */
const MAX_WAITING: Readonly<Record<HashedFor['kind'], number>> = { known: 40, stranger: 20 };

/** How many hashes of one party may run or wait. A stranger's range may be an office with several people. */
const MAX_PENDING: typeof MAX_WAITING = { known: 1, stranger: 5 };

/** Nothing was hashed, because too many hashes are waiting already. */
export class HashesBusyError extends OverloadedError {
  readonly retryAfterSeconds: number = 10;
}

/** Nothing was hashed, because this party has as many hashes running or waiting as it may. */
export class HashPendingError extends HashesBusyError {
  override readonly retryAfterSeconds = 1;
}

/** `$argon2id$v=19$m=47104,t=2,p=1$salt$hash`, base64 without padding. */
const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=1\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

export interface PasswordHasher {
  /** A PHC string. */
  hash(password: string, whom: HashedFor): Promise<string>;
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
    hash: async (password, whom) => {
      const salt = Buffer.from(random(SALT_BYTES));
      const hash = await derive(password, salt, cost, whom);
      return `$argon2id$v=19$m=${cost.memoryKiB},t=${cost.passes},p=1$${plain(salt)}$${plain(hash)}`;
    },
    verify: async (password, stored, whom) => {
      const parts = stored === null ? null : PHC.exec(stored);
      if (stored !== null && parts === null) throw new Error('A stored password hash is damaged.');
      const [, memory, passes, salt, expected] = parts ?? [];
      const derived = await derive(
        password,
        salt === undefined ? Buffer.alloc(SALT_BYTES) : Buffer.from(salt, 'base64'),
        parts === null ? cost : { memoryKiB: Number(memory), passes: Number(passes) },
        whom,
      );
      return expected !== undefined && timingSafeEqual(derived, Buffer.from(expected, 'base64'));
    },
    isOutdated: (stored) => !stored.startsWith(`$argon2id$v=19$m=${cost.memoryKiB},t=${cost.passes},p=1$`),
  };
}

const plain = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

/**
 * Runs two jobs at a time, one per person and link and a few per range, so that nobody makes the others wait by asking
 * often. Known parties and strangers take turns, so that neither kind starves the other; within a kind, jobs run in
 * order of arrival.
 *
 * @throws HashPendingError if this party has as many jobs running or waiting as it may
 * @throws HashesBusyError if too many jobs are waiting already
 */
export function limitedTurns(): <Result>(whom: HashedFor, work: () => Promise<Result>) => Promise<Result> {
  const waiting: Readonly<Record<HashedFor['kind'], (() => void)[]>> = { known: [], stranger: [] };
  const pending = new Map<string, number>();
  let running = 0;
  let nextKind: HashedFor['kind'] = 'known';
  const take = (kind: HashedFor['kind']): (() => void) | undefined => {
    const next = waiting[kind].shift();
    if (next !== undefined) nextKind = other(kind);
    return next;
  };
  return async ({ kind, id }, work) => {
    const key = `${kind} ${id}`;
    const own = pending.get(key) ?? 0;
    if (own >= MAX_PENDING[kind])
      throw new HashPendingError('Another password is being checked for the same person, link or address range.');
    if (running >= MAX_AT_ONCE && waiting[kind].length >= MAX_WAITING[kind]) {
      throw new HashesBusyError('Too many sign-ins are already waiting.');
    }
    pending.set(key, own + 1);
    if (running < MAX_AT_ONCE) running += 1;
    else await new Promise<void>((resolve) => waiting[kind].push(resolve));
    try {
      return await work();
    } finally {
      const left = (pending.get(key) ?? 1) - 1;
      if (left === 0) pending.delete(key);
      else pending.set(key, left);
      // The slot goes directly to the next waiting job, so that newcomers cannot overtake it.
      const next = take(nextKind) ?? take(other(nextKind));
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

const other = (kind: HashedFor['kind']): HashedFor['kind'] => (kind === 'known' ? 'stranger' : 'known');
