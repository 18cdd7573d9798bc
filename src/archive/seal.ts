import { createCipheriv, createDecipheriv, hkdfSync, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import type { RandomBytes } from '../domain/clock.ts';
import { BackupError, headLines, sha256, type Encryption, type Head } from './format.ts';

const KEY_BYTES = 32;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** 128 MB and a third of a second per guess. */
const SCRYPT = { N: 131_072, r: 8, p: 1 } as const;
/** No head of ours asks for more memory. */
const MAX_SCRYPT_BYTES = 1024 ** 3;
export const MIN_PASSPHRASE_CHARACTERS = 12;

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt);

/** Encrypts and authenticates the frames of a file. A frame can only be decrypted at its own position. */
export interface Seal {
  close(frame: number, content: Buffer): Buffer;
  /** Throws for a frame that was changed, or encrypted with another key, at another position or for another head. */
  open(frame: number, sealed: Buffer): Buffer;
}

export function newEncryption(randomBytes: RandomBytes): Encryption {
  return {
    cipher: 'aes-256-gcm',
    kdf: 'scrypt',
    ...SCRYPT,
    salt: Buffer.from(randomBytes(SALT_BYTES)).toString('base64'),
  };
}

/** Derives the key of a file from the passphrase, the file's own salt, and every byte of its head. */
export async function openSeal(head: Head, encryption: Encryption, passphrase: string): Promise<Seal> {
  const { N, r, p, salt } = encryption;
  if (128 * N * r * p > MAX_SCRYPT_BYTES) throw new BackupError('The head of the backup is damaged.');
  const secret = await derive(passphrase.normalize('NFC'), Buffer.from(salt, 'base64'), KEY_BYTES, {
    N,
    r,
    p,
    maxmem: 2 * MAX_SCRYPT_BYTES,
  });
  const key = Buffer.from(hkdfSync('sha256', secret, '', sha256().update(headLines(head)).digest(), KEY_BYTES));
  return {
    close: (frame, content) => {
      const cipher = createCipheriv('aes-256-gcm', key, nonceOf(frame), { authTagLength: TAG_BYTES });
      return Buffer.concat([cipher.update(content), cipher.final(), cipher.getAuthTag()]);
    },
    open: (frame, sealed) => {
      const tagAt = Math.max(0, sealed.length - TAG_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(frame), { authTagLength: TAG_BYTES });
      decipher.setAuthTag(sealed.subarray(tagAt));
      return Buffer.concat([decipher.update(sealed.subarray(0, tagAt)), decipher.final()]);
    },
  };
}

/** No nonce is used twice with one key, because each file has its own salt. */
function nonceOf(frame: number): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUInt32BE(frame, NONCE_BYTES - 4);
  return nonce;
}
