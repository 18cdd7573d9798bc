/** The current time in epoch milliseconds. Passed in wherever time matters, so that tests can drive it. */
export type Clock = () => number;

/** A source of cryptographically strong random bytes, passed in for the same reason. */
export type RandomBytes = (size: number) => Uint8Array;
