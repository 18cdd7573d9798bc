/**
 * How long a test waits for what must come, in ms: the one bound of all such waits. It only ends tests that would never
 * end; whether a thing comes in time is no matter of a busy machine's clock. Tests themselves have more
 * (vitest.config.ts).
 */
export const DEADLINE_MS = 60_000;

/** The same bound for `vi.waitFor`, which gives up after a second otherwise. */
export const WAIT = { timeout: DEADLINE_MS, interval: 5 };

/**
 * What must come at once comes within this, in ms, however busy the machine is: many times what it takes, and well
 * below what it would wait for if it did not (a timer, a lease, an answer), which such a test sets to more.
 */
export const PROMPT_MS = 5_000;
