/**
 * The one timeout of waits in tests, in ms. It only ends tests that would never end, because a busy machine's clock
 * proves nothing about speed. Tests themselves have longer (vitest.config.ts).
 */
export const DEADLINE_MS = 120_000;

/** The same timeout for `vi.waitFor`, whose default is a second. */
export const WAIT = { timeout: DEADLINE_MS, interval: 5 };

/**
 * Within this time, in ms, something that must happen at once happens even on a busy machine. It is well below the
 * timer, lease or answer that would trigger it otherwise, which such a test sets to more.
 */
export const PROMPT_MS = 5_000;
