/** The database of a setting cannot be used; the message says why, and what to do. */
export class UnfitDatabaseError extends Error {}
