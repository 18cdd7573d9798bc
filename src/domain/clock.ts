/** The present in epoch milliseconds. Handed in wherever time matters, so that tests drive it. */
export type Clock = () => number;

/** Source of cryptographically strong random bytes, handed in for the same reason. */
export type RandomBytes = (size: number) => Uint8Array;
