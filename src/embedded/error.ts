/** A fault of the embedded database that its operator can fix: the message is plain text that ends with the way out. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

/** A disk has no room left. */
class DiskFullError extends EmbeddedPostgresError {}

/**
 * Whether a fault is caused by a full disk: an error of the file system, of the embedded server while it starts, or in
 * one of its answers, or the cause of another error.
 */
export function isOfFullDisk(error: unknown): boolean {
  if (error instanceof DiskFullError || isDiskFullError(error) || errorCode(error) === '53100') return true;
  return error instanceof Error && error.cause !== undefined && isOfFullDisk(error.cause);
}

/** The way out that always exists, for the end of a message. */
export const OR_DATABASE_URL = 'or set DATABASE_URL to a PostgreSQL server of your own';

/** The disk (or quota) that holds `folder` has no room left. */
export function diskFull(folder: string, cause: unknown): EmbeddedPostgresError {
  return new DiskFullError(
    `The disk that holds ${folder} is full: the embedded database cannot write. Free some space there, move DATA_DIR to another disk, ${OR_DATABASE_URL}.`,
    { cause },
  );
}

/** Recognises a full disk in the output of initdb and postgres, which is English here (LC_ALL=C). */
export function saysDiskFull(output: string): boolean {
  // A disk that had room for part of a page has raised no error yet: PostgreSQL says how much it wrote.
  return /No space left on device|Disk quota exceeded|wrote only \d+ of \d+ bytes/.test(output);
}

/** The operating system's or PostgreSQL's code of an error (`EACCES`, `57P03`), if it has one. */
export function errorCode(error: unknown): string | undefined {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return undefined;
}

/** Whether a file system call failed for lack of space. */
export function isDiskFullError(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}

const FILE_FAULTS: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the file system is mounted read-only',
  ENOENT: 'no folder can be created there',
  EEXIST: 'a file stands where a folder must be',
  ENOTDIR: 'a file stands where a folder must be',
};

/**
 * Why the file system refuses to write, in plain words behind the code, for the middle of a message; undefined for
 * other errors.
 */
export function fileFault(error: unknown): string | undefined {
  const code = errorCode(error);
  const words = code === undefined ? undefined : FILE_FAULTS[code];
  return words === undefined ? undefined : `${code}: ${words}`;
}

/** The text of an error, for the middle of a message. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
