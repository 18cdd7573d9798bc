import { createHash } from 'node:crypto';

/**
 * How a backup is laid out, version 1:
 *
 * ```
 * cointill backup 1\n
 * {"compression":"zstd","encryption":null}\n          or the parameters of scrypt
 * frames: length (4 bytes), then so many bytes; each holds its kind (1 byte) and its content, sealed under a passphrase
 * 0 (4 bytes), where the manifest's frame begins (8 bytes), how many frames there are (4 bytes)
 * SHA-256 of all of it (32 bytes)
 * ```
 *
 * A part is the frames from its `part` to its `end`; its content is split into blocks that are compressed one by one.
 * The manifest is the last frame, because counts are known last. Numbers are big-endian.
 */
export const MAGIC = 'cointill backup';
export const FORMAT = 1;

/** What a frame contains. */
export const FRAME = { part: 1, block: 2, end: 3, manifest: 4 } as const;
export type FrameKind = (typeof FRAME)[keyof typeof FRAME];

/** The largest block before compression. */
export const BLOCK_BYTES = 4 * 1024 * 1024;
/** Larger than any frame that is written: a larger length means that the file is damaged. */
export const MAX_FRAME_BYTES = 64 * 1024 * 1024;
/** A line of the head is shorter. */
export const MAX_LINE_BYTES = 1024;
export const LENGTH_BYTES = 4;
export const HASH_BYTES = 32;
/** The end of the frames, the position of the manifest, the number of frames, the checksum. */
export const TRAILER_BYTES = LENGTH_BYTES + 8 + 4 + HASH_BYTES;

/** How a key is derived from a passphrase. */
export interface Encryption {
  readonly cipher: 'aes-256-gcm';
  readonly kdf: 'scrypt';
  readonly N: number;
  readonly r: number;
  readonly p: number;
  /** In base64. */
  readonly salt: string;
}

/** What can be read without the passphrase. */
export interface Head {
  readonly compression: 'zstd';
  readonly encryption: Encryption | null;
}

/** One part as it was written, before compression. */
export interface Part {
  readonly name: string;
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
}

/** A file is not a backup, is damaged, or cannot be opened with what was given; the message says what to do. */
export class ArchiveError extends Error {}

export function headLines(head: Head): Buffer {
  return Buffer.from(`${MAGIC} ${FORMAT}\n${JSON.stringify(head)}\n`);
}

export function sha256() {
  return createHash('sha256');
}
