/**
 * What limits guessing. `client` counts by address (IPv6 by /64), `browser` by a browser that the person signed in with
 * before, `account` by account over all other browsers, `session` by session.
 */
export type GuessBucket =
  | 'password-client'
  | 'password-browser'
  | 'password-account'
  | 'code-client'
  | 'code-browser'
  | 'code-account'
  | 'proof-session';

export interface Guess {
  readonly bucket: GuessBucket;
  readonly id: string;
}

/** Counts wrong guesses in fixed windows. */
export interface GuessLimits {
  /** Counts a guess before it is looked at, so that many at once do not pass together. */
  take(guess: Guess): Promise<{ readonly allowed: boolean; readonly retryAfterSeconds: number }>;
  /** It was right: it does not count. */
  giveBack(guess: Guess): Promise<void>;
}

/** How many wrong guesses there may be in how long. */
export const GUESS_LIMITS: Readonly<Record<GuessBucket, { readonly guesses: number; readonly windowMs: number }>> = {
  'password-client': { guesses: 10, windowMs: 15 * 60_000 },
  'password-browser': { guesses: 10, windowMs: 15 * 60_000 },
  // More than a few clients can use up; and whoever was here before, or has a passkey, does not come by it.
  'password-account': { guesses: 100, windowMs: 60 * 60_000 },
  'code-client': { guesses: 10, windowMs: 15 * 60_000 },
  'code-browser': { guesses: 10, windowMs: 15 * 60_000 },
  // A guess of a six-digit code is right in 3 of 1,000,000 cases: 480 a day make it one in 700 a day.
  'code-account': { guesses: 20, windowMs: 60 * 60_000 },
  'proof-session': { guesses: 10, windowMs: 15 * 60_000 },
};

export type TooMany = { readonly kind: 'too_many'; readonly retryAfterSeconds: number };

/** Counts a guess in all of these, in order; tells the first that is used up, after which nothing more is counted. */
export async function takeGuess(limits: GuessLimits, guesses: readonly Guess[]): Promise<TooMany | null> {
  for (const guess of guesses) {
    const { allowed, retryAfterSeconds } = await limits.take(guess);
    if (!allowed) return { kind: 'too_many', retryAfterSeconds };
  }
  return null;
}

export async function giveBack(limits: GuessLimits, guesses: readonly Guess[]): Promise<void> {
  await Promise.all(guesses.map((guess) => limits.giveBack(guess)));
}
