/**
 * What guesses are counted by: `client` is an address (IPv6: a /64), `browser` one that the person signed in with
 * before, `account` an account across all other browsers.
 */
export type GuessBucket =
  | 'password-client'
  | 'password-browser'
  | 'password-account'
  | 'code-client'
  | 'code-browser'
  | 'code-account'
  | 'proof-session'
  | 'email-person';

export interface Guess {
  readonly bucket: GuessBucket;
  readonly id: string;
}

/** Counts wrong guesses in fixed windows. */
export interface GuessLimits {
  /** Counts a guess before it is checked, so that guesses sent all at once cannot exceed the limit. */
  take(guess: Guess): Promise<{ readonly allowed: boolean; readonly retryAfterSeconds: number }>;
  /** Uncounts a guess that was right. */
  giveBack(guess: Guess): Promise<void>;
}

/** How many wrong guesses are allowed in each window. */
export const GUESS_LIMITS: Readonly<Record<GuessBucket, { readonly guesses: number; readonly windowMs: number }>> = {
  'password-client': { guesses: 10, windowMs: 15 * 60_000 },
  'password-browser': { guesses: 10, windowMs: 15 * 60_000 },
  // More than a few clients can use up. Known browsers and passkeys are not affected by this limit.
  'password-account': { guesses: 100, windowMs: 60 * 60_000 },
  'code-client': { guesses: 10, windowMs: 15 * 60_000 },
  'code-browser': { guesses: 10, windowMs: 15 * 60_000 },
  // Three of 1,000,000 six-digit codes are valid at a time: 480 guesses a day succeed about once in 700 days.
  'code-account': { guesses: 20, windowMs: 60 * 60_000 },
  'proof-session': { guesses: 10, windowMs: 15 * 60_000 },
  // E-mails that are another person's already (docs/decisions/0150).
  'email-person': { guesses: 5, windowMs: 60 * 60_000 },
};

export type TooMany = { readonly kind: 'too_many'; readonly retryAfterSeconds: number };

/** Counts a guess in each bucket, in order. Stops at the first one that is used up and returns when it opens again. */
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
