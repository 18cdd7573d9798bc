import { createHash } from 'node:crypto';

/**
 * The layout of a backup, version 1:
 *
 * ```
 * cointill backup 1\n
 * {"compression":"zstd","encryption":null}\n          or the parameters of scrypt
 * frames: length (4 bytes), then kind (1 byte) and content, both sealed if there is a passphrase
 * 0 (4 bytes), position of the manifest's frame (8 bytes), number of frames (4 bytes)
 * SHA-256 of everything above (32 bytes)
 * ```
 *
 * A part is the frames from its `part` to its `end`; its content is split into blocks that are compressed one by one.
 * The manifest is the last frame, because counts are known only at the end. Numbers are big-endian.
 */
export const MAGIC = 'cointill backup';
export const FORMAT = 1;

/** The kinds of frames. */
export const FRAME = { part: 1, block: 2, end: 3, manifest: 4 } as const;
export type FrameKind = (typeof FRAME)[keyof typeof FRAME];

/** The largest block before compression. */
export const BLOCK_BYTES = 4 * 1024 * 1024;
/** No frame is written that large: a larger length means that the file is damaged. */
export const MAX_FRAME_BYTES = 64 * 1024 * 1024;
/** Every line of the head is shorter. */
export const MAX_LINE_BYTES = 1024;
export const LENGTH_BYTES = 4;
export const HASH_BYTES = 32;
/** The mark after the frames, the position of the manifest, the number of frames, the checksum. */
export const TRAILER_BYTES = LENGTH_BYTES + 8 + 4 + HASH_BYTES;

/** The cipher, and the parameters that derive its key from a passphrase. */
export interface Encryption {
  readonly cipher: 'aes-256-gcm';
  readonly kdf: 'scrypt';
  readonly N: number;
  readonly r: number;
  readonly p: number;
  /** Base64. */
  readonly salt: string;
}

/** The part of a backup that can be read without the passphrase. */
export interface Head {
  readonly compression: 'zstd';
  readonly encryption: Encryption | null;
}

/** A part before its compression. */
export interface Part {
  readonly name: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** A backup cannot be made, read or restored; the message says why and what to do. */
export class BackupError extends Error {}

export function headLines(head: Head): Buffer {
  return Buffer.from(`${MAGIC} ${FORMAT}\n${JSON.stringify(head)}\n`);
}

export function sha256() {
  return createHash('sha256');
}
