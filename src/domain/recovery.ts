/** At least so many numbers are passed over: a quiet shop may have had its best hour in those that are lost. */
export const MIN_SKIP = 1_000;
