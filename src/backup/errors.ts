/** There is nothing to back up, or nothing can be restored or written there; the message says why and what to do. */
export class BackupError extends Error {}
