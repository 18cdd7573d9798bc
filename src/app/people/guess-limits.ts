import { findKnownBrowser } from '../../store/people/sessions.ts';
import type { App } from '../context.ts';
import { tokenHash } from './token.ts';
import type { MailLanguage } from '../../domain/notification.ts';

/** The facts about a client before sign-in. */
export interface Client {
  /** The key of its rate limits: the IP address, or the /64 of IPv6. */
  readonly bucket: string;
  /** The range around the address, all of which one attacker may have: the /24 of IPv4, the /48 of IPv6. */
  readonly range: string;
  readonly ip: string;
  readonly userAgent: string | null;
  /** The language of mails that the browser prefers; null if mails have none of its languages. */
  readonly language?: MailLanguage | null;
  /** The token from the cookie by which a browser is recognized. */
  readonly browserToken: string | null;
  /** Its current session, which a new one replaces. */
  readonly sessionToken: string | null;
}

/**
 * The keys by which guesses are counted: `client` is an address (IPv6: a /64), `range` a /24 (IPv6: a /48), `browser`
 * one that the person signed in with before, `account` an account across all other browsers.
 */
export type GuessBucket =
  | 'password-client'
  | 'password-range'
  | 'password-browser'
  | 'password-account'
  | 'code-client'
  | 'code-range'
  | 'code-browser'
  | 'code-account'
  | 'reauthentication-session'
  | 'email-person';

export interface Guess {
  readonly bucket: GuessBucket;
  readonly id: string;
}

/** Counts wrong guesses in fixed windows. */
export interface GuessLimits {
  /** Counts a guess before it is checked, so that guesses sent all at once cannot exceed the limit. */
  take(guess: Guess): Promise<{
    readonly allowed: boolean;
    /** Whether this was the last guess allowed. */
    readonly isLast: boolean;
    readonly retryAfterSeconds: number;
  }>;
  /** Uncounts a guess. */
  giveBack(guess: Guess): Promise<void>;
}

/** How many wrong guesses are allowed in each window. */
export const GUESS_LIMITS: Readonly<Record<GuessBucket, { readonly guesses: number; readonly windowMs: number }>> = {
  'password-client': { guesses: 10, windowMs: 15 * 60_000 },
  // One range alone cannot use up an account's limit.
  'password-range': { guesses: 30, windowMs: 60 * 60_000 },
  'password-browser': { guesses: 10, windowMs: 15 * 60_000 },
  // More guesses than a few clients can make. Known browsers and passkeys are not affected by this limit.
  'password-account': { guesses: 100, windowMs: 60 * 60_000 },
  'code-client': { guesses: 10, windowMs: 15 * 60_000 },
  'code-range': { guesses: 15, windowMs: 60 * 60_000 },
  'code-browser': { guesses: 10, windowMs: 15 * 60_000 },
  // Three of 1,000,000 six-digit codes are valid at a time: 480 guesses a day succeed about once in 700 days.
  'code-account': { guesses: 20, windowMs: 60 * 60_000 },
  'reauthentication-session': { guesses: 10, windowMs: 15 * 60_000 },
  // Guesses of e-mails that belong to another person (docs/design/people.md).
  'email-person': { guesses: 5, windowMs: 60 * 60_000 },
};

export type TooMany = {
  readonly kind: 'too_many';
  readonly retryAfterSeconds: number;
  /** The limit that is used up. */
  readonly bucket: GuessBucket;
};

/**
 * Judges a guess that is counted beforehand, so that guesses sent all at once cannot exceed the limit. Only a wrong
 * guess stays counted: not a refused one, nor one that a fault kept from being judged. `onUsedUp` is called with each
 * limit whose last guess was wrong.
 */
export async function judged<Result>(
  limits: GuessLimits,
  guesses: readonly Guess[],
  judge: () => Promise<Result>,
  isRight: (result: Result) => boolean,
  onUsedUp?: (bucket: GuessBucket) => Promise<void>,
): Promise<Result | TooMany> {
  const taken: Guess[] = [];
  const last: GuessBucket[] = [];
  let isWrong = false;
  try {
    for (const guess of guesses) {
      taken.push(guess);
      const { allowed, isLast, retryAfterSeconds } = await limits.take(guess);
      if (isLast) last.push(guess.bucket);
      if (!allowed) return { kind: 'too_many', retryAfterSeconds, bucket: guess.bucket };
    }
    const result = await judge();
    isWrong = !isRight(result);
    if (isWrong) for (const bucket of last) await onUsedUp?.(bucket);
    return result;
  } finally {
    if (!isWrong) await Promise.all(taken.map((guess) => limits.giveBack(guess)));
  }
}

/** The buckets of a guess: the browser's if it is known, otherwise those of range, client and account. */
export async function guessesOf(
  app: App,
  client: Client,
  what: 'password' | 'code',
  personId: string | null,
  account: string,
): Promise<readonly Guess[]> {
  const hash = client.browserToken === null ? null : tokenHash(client.browserToken);
  const owner = hash === null ? null : await findKnownBrowser(app.db, hash);
  if (owner !== null && owner === personId) return [{ bucket: `${what}-browser`, id: (hash ?? '').toString('hex') }];
  return [
    { bucket: `${what}-range`, id: client.range },
    { bucket: `${what}-client`, id: client.bucket },
    { bucket: `${what}-account`, id: account },
  ];
}
