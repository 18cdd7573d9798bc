import { hkdfSync, randomBytes as systemRandomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import type { RandomBytes } from '../domain/clock.ts';
import { KEY_BYTES, KEY_FILE_NAME, SealingKeyError, type SealingKeys } from './secret.ts';

const MIN_SECRET_KEY_CHARACTERS = 32;

/** The source of the key. */
export interface KeySource {
  /** SECRET_KEY; null if it is not set. */
  readonly secretKey: string | null;
  readonly dataDir: string;
}

/** The source of the key and of a former one. */
export interface KeySources extends KeySource {
  /** SECRET_KEY_PREVIOUS: a former SECRET_KEY, or the content of a former `secret.key`; null if it is not set. */
  readonly secretKeyPrevious: string | null;
}

/** Whether there is a key, or a file that cannot be read, which `loadSealingKey` explains: it creates no key then. */
export function hasSealingKey({ secretKey, dataDir }: KeySource): boolean {
  if (secretKey !== null) return true;
  try {
    return statSync(path.join(dataDir, KEY_FILE_NAME), { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return !hasCode(error, 'ENOTDIR');
  }
}

/**
 * The key of `loadSealingKey`, and the former one if SECRET_KEY_PREVIOUS is set.
 *
 * @throws SealingKeyError as `loadSealingKey`
 */
export function loadSealingKeys(source: KeySources): SealingKeys {
  return [loadSealingKey(source), ...formerKeys(source.secretKeyPrevious)];
}

/** The keys that there are, without making one; null if there is none. @throws SealingKeyError as `loadSealingKey` */
export function existingKeys(source: KeySources): SealingKeys | null {
  if (hasSealingKey(source)) return loadSealingKeys(source);
  const [first, ...more] = formerKeys(source.secretKeyPrevious);
  return first === undefined ? null : [first, ...more];
}

/** Both keys that the text may stand for: a SECRET_KEY may look like a key file's content. */
export function formerKeys(secretKeyPrevious: string | null): readonly Buffer[] {
  if (secretKeyPrevious === null) return [];
  const ofFile = keyInBase64(secretKeyPrevious);
  return [keyFromText(secretKeyPrevious), ...(ofFile === null ? [] : [ofFile])];
}

/**
 * The 32-byte key for `sealSecret`: derived from SECRET_KEY if that is set (HKDF, RFC 5869, with SHA-256), otherwise
 * read from `secret.key` in the data directory, which is created at first use with mode 0600.
 *
 * @throws SealingKeyError that names SECRET_KEY or the file, the rule and the way out
 */
export function loadSealingKey(source: {
  readonly secretKey?: string | null;
  readonly dataDir: string;
  readonly randomBytes?: RandomBytes;
}): Buffer {
  const { secretKey = null } = source;
  if (secretKey !== null) return keyFromText(secretKey);
  const file = path.join(source.dataDir, KEY_FILE_NAME);
  const existing = readKeyFile(file);
  if (existing !== null) return existing;
  createKeyFile(file, (source.randomBytes ?? systemRandomBytes)(KEY_BYTES));
  // Read back rather than trusted: another process may have created the file first.
  const created = readKeyFile(file);
  if (created === null)
    throw new SealingKeyError(`The key file ${file} vanished while it was being created. Start again.`);
  return created;
}

function keyFromText(secretKey: string): Buffer {
  if (secretKey.length < MIN_SECRET_KEY_CHARACTERS) {
    throw new SealingKeyError(
      `SECRET_KEY must have at least ${MIN_SECRET_KEY_CHARACTERS} characters, not ${secretKey.length}. ` +
        'Create one with: openssl rand -base64 32. Or leave SECRET_KEY unset. A key file is then created in DATA_DIR.',
    );
  }
  return Buffer.from(hkdfSync('sha256', secretKey, '', 'cointill webhook secrets v1', KEY_BYTES));
}

function readKeyFile(file: string): Buffer | null {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch (cause) {
    // If the key cannot be created, the error says why.
    if (hasCode(cause, 'ENOENT') || hasCode(cause, 'ENOTDIR')) return null;
    throw new SealingKeyError(
      `The key file ${file} cannot be read. It must belong to the user that runs Cointill: as root, run chown USER ${file}`,
      { cause },
    );
  }
  try {
    tightenMode(file, descriptor);
    return decodeKey(file, readFileSync(descriptor, 'latin1'));
  } finally {
    closeSync(descriptor);
  }
}

function tightenMode(file: string, descriptor: number): void {
  if ((fstatSync(descriptor).mode & 0o077) === 0) return;
  try {
    fchmodSync(descriptor, 0o600);
  } catch (cause) {
    throw new SealingKeyError(
      `The key file ${file} is open to other users, and its mode cannot be changed. Run: chmod 600 ${file}`,
      { cause },
    );
  }
}

function decodeKey(file: string, content: string): Buffer {
  const key = keyInBase64(content.trim());
  if (key === null) {
    throw new SealingKeyError(
      `The key file ${file} must contain ${KEY_BYTES} bytes in base64, but does not. Restore the original file from a backup. ` +
        'If the original is lost, delete the file. A new one is created at the next start, and every webhook secret must be rotated.',
    );
  }
  return key;
}

function keyInBase64(text: string): Buffer | null {
  const key = Buffer.from(text, 'base64');
  return key.length === KEY_BYTES && key.toString('base64') === text ? key : null;
}

/**
 * A hard link appears completely or not at all and never replaces a file, so neither a crash nor two simultaneous
 * starts leave half a key or two keys.
 */
function createKeyFile(file: string, key: Uint8Array): void {
  const draft = `${file}.${process.pid}.${systemRandomBytes(6).toString('hex')}`;
  try {
    makeFolders(path.dirname(file));
    const descriptor = openSync(draft, 'wx', 0o600);
    try {
      writeFileSync(descriptor, `${Buffer.from(key).toString('base64')}\n`);
      fsyncSync(descriptor);
      linkSync(draft, file);
    } finally {
      closeSync(descriptor);
      unlinkSync(draft);
    }
  } catch (cause) {
    // Another process has created it meanwhile.
    if (!hasCode(cause, 'EEXIST') || !existsSync(file)) throw noKeyFile(file, cause);
  }
  syncDirectory(path.dirname(file));
}

/** Without `recursive`: Node.js tries forever in a place where no folder can be created (/proc). */
function makeFolders(folder: string): void {
  try {
    makeOneFolder(folder);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    makeFolders(path.dirname(folder));
    makeOneFolder(folder);
  }
}

function makeOneFolder(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (!hasCode(error, 'EEXIST') || !statSync(folder).isDirectory()) throw error;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EROFS: 'its file system is mounted read-only',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  ENOENT: 'no folder can be created there',
  EEXIST: 'a file exists where DATA_DIR must be a folder',
  ENOTDIR: 'a file exists where DATA_DIR must be a folder',
};

function noKeyFile(file: string, cause: unknown): SealingKeyError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  return new SealingKeyError(
    `The key file ${file} cannot be created: ${REASONS[code] ?? code}. ` +
      'Set DATA_DIR to a folder that Cointill can write to, or set SECRET_KEY.',
    { cause },
  );
}

/** Without this the new name, and with it every secret encrypted with the key, could be lost in a power cut. */
function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
