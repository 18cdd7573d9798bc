import { open, stat, type FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import {
  BackupError,
  BLOCK_BYTES,
  FORMAT,
  FRAME,
  HASH_BYTES,
  LENGTH_BYTES,
  MAGIC,
  MAX_FRAME_BYTES,
  MAX_LINE_BYTES,
  sha256,
  TRAILER_BYTES,
  type Encryption,
  type Head,
  type Part,
} from './format.ts';
import { openSeal, type Seal } from './seal.ts';

const decompress = promisify(zstdDecompress);
const READ_BYTES = 1024 * 1024;

/** An open backup whose every byte was checked. */
export interface ArchiveReader {
  readonly head: Head;
  /** The caller must check its shape. */
  readonly manifest: unknown;
  readonly bytes: number;
  /** Reads the parts in order. `take` must read each part to its end, where the part's checksum is verified. */
  parts(take: (name: string, content: AsyncIterable<Buffer>) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a backup. The checksum at the end covers every byte and is verified before anything is used.
 *
 * @param passphrase called only if the file is encrypted; null: none was given
 * @throws BackupError if it is not a backup, of a newer format, truncated or damaged, or if the passphrase is missing
 * or wrong
 */
export async function readArchive(file: string, passphrase: () => Promise<string | null>): Promise<ArchiveReader> {
  const handle = await openFile(file);
  try {
    const { size } = await handle.stat();
    const { head, length } = await readHead(handle, file);
    const trailer = await readTrailer(handle, file, size, length);
    const seal = await sealOf(file, head, passphrase);
    const manifest = await readManifest(handle, file, trailer, seal);
    return {
      head,
      manifest,
      bytes: size,
      parts: (take) => readParts(handle, file, { from: length, until: trailer.manifestAt }, seal, take),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Opens a regular file only: a pipe gives its bytes once, and opening it waits for a writer. */
async function openFile(file: string): Promise<FileHandle> {
  const stats = await stat(file);
  if (stats.isDirectory()) throw new BackupError(`${file} is a folder. Give one of the backups in it.`);
  if (!stats.isFile())
    throw new BackupError(`${file} is a pipe or a device. Write the backup to a file first, and give that file.`);
  return open(file, 'r');
}

/** Whether a file begins like a backup. */
export async function isArchive(file: string): Promise<boolean> {
  const handle = await open(file, 'r');
  try {
    return (await readExactly(handle, 0, MAGIC.length)).toString('latin1') === MAGIC;
  } finally {
    await handle.close();
  }
}

function damaged(file: string, what: string): BackupError {
  return new BackupError(`${file} is damaged: ${what}. Nothing of it was used. Take another backup.`);
}

/** `length` bytes from a position on, or as many as there are. */
async function readExactly(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

async function readHead(handle: FileHandle, file: string): Promise<{ readonly head: Head; readonly length: number }> {
  const start = await readExactly(handle, 0, 2 * MAX_LINE_BYTES);
  const first = start.indexOf('\n');
  const version = new RegExp(`^${MAGIC} (\\d{1,4})$`).exec(
    start.subarray(0, Math.max(0, first)).toString('latin1'),
  )?.[1];
  if (version === undefined) throw new BackupError(`${file} is no backup of Cointill: it does not begin like one.`);
  if (Number(version) > FORMAT) {
    throw new BackupError(`${file} was made by a newer version of Cointill. Restore it with that version.`);
  }
  const second = start.indexOf('\n', first + 1);
  const head = parseHead(start.subarray(first + 1, Math.max(0, second)));
  if (head === null) throw damaged(file, 'its head cannot be read');
  return { head, length: second + 1 };
}

function parseHead(line: Buffer): Head | null {
  const parsed = parseJson(line);
  if (typeof parsed !== 'object' || parsed === null) return null;
  const { compression, encryption } = parsed as Partial<Head>;
  if (compression !== 'zstd' || encryption === undefined) return null;
  return encryption === null || isEncryption(encryption) ? { compression, encryption } : null;
}

function isEncryption(value: Partial<Encryption>): value is Encryption {
  const numbers = [value.N, value.r, value.p];
  return (
    value.cipher === 'aes-256-gcm' &&
    value.kdf === 'scrypt' &&
    numbers.every((number) => Number.isInteger(number) && Number(number) > 0) &&
    typeof value.salt === 'string'
  );
}

function parseJson(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString('utf8'));
  } catch {
    return null;
  }
}

interface Trailer {
  readonly manifestAt: number;
  readonly frames: number;
  readonly endAt: number;
}

/** Verifies the checksum of the whole file, and returns where its manifest is. */
async function readTrailer(handle: FileHandle, file: string, size: number, headLength: number): Promise<Trailer> {
  const endAt = size - TRAILER_BYTES;
  if (endAt < headLength) throw damaged(file, 'it was cut');
  const hash = sha256();
  for (let position = 0; position < size - HASH_BYTES;) {
    const piece = await readExactly(handle, position, Math.min(READ_BYTES, size - HASH_BYTES - position));
    if (piece.length === 0) throw damaged(file, 'it was cut while it was read');
    hash.update(piece);
    position += piece.length;
  }
  const trailer = await readExactly(handle, endAt, TRAILER_BYTES);
  if (!hash.digest().equals(trailer.subarray(-HASH_BYTES))) {
    throw damaged(file, 'its checksum is wrong; it was cut or changed');
  }
  const manifestAt = Number(trailer.readBigUInt64BE(LENGTH_BYTES));
  if (trailer.readUInt32BE(0) !== 0 || manifestAt < headLength || manifestAt >= endAt) {
    throw damaged(file, 'it does not end like a backup');
  }
  return { manifestAt, frames: trailer.readUInt32BE(LENGTH_BYTES + 8), endAt };
}

async function sealOf(file: string, head: Head, passphrase: () => Promise<string | null>): Promise<Seal | null> {
  if (head.encryption === null) return null;
  const given = await passphrase();
  if (given === null) {
    throw new BackupError(`${file} is encrypted. Give the passphrase that it was made with: --passphrase-file FILE`);
  }
  return openSeal(head, head.encryption, given);
}

interface Frame {
  readonly kind: number;
  readonly content: Buffer;
  /** Where the next frame begins. */
  readonly next: number;
}

async function readFrame(
  handle: FileHandle,
  file: string,
  at: { readonly position: number; readonly number: number },
  seal: Seal | null,
): Promise<Frame> {
  const length = (await readExactly(handle, at.position, LENGTH_BYTES)).readUInt32BE(0);
  if (length === 0 || length > MAX_FRAME_BYTES) throw damaged(file, `frame ${at.number} has no length`);
  const body = await readExactly(handle, at.position + LENGTH_BYTES, length);
  if (body.length !== length) throw damaged(file, 'it was cut');
  const plain = openFrame(file, at.number, body, seal);
  return { kind: plain[0] ?? 0, content: plain.subarray(1), next: at.position + LENGTH_BYTES + length };
}

function openFrame(file: string, number: number, body: Buffer, seal: Seal | null): Buffer {
  if (seal === null) return body;
  try {
    return seal.open(number, body);
  } catch (cause) {
    throw new BackupError(
      `${file} does not open with this passphrase: it was made with another one, or somebody changed the file.`,
      { cause },
    );
  }
}

async function readManifest(
  handle: FileHandle,
  file: string,
  { manifestAt, frames, endAt }: Trailer,
  seal: Seal | null,
): Promise<unknown> {
  const frame = await readFrame(handle, file, { position: manifestAt, number: frames - 1 }, seal);
  const manifest = parseJson(frame.content);
  if (frame.kind !== FRAME.manifest || frame.next !== endAt || manifest === null) {
    throw damaged(file, 'its manifest cannot be read');
  }
  return manifest;
}

async function readParts(
  handle: FileHandle,
  file: string,
  { from, until }: { readonly from: number; readonly until: number },
  seal: Seal | null,
  take: (name: string, content: AsyncIterable<Buffer>) => Promise<void>,
): Promise<void> {
  let position = from;
  let number = 0;
  const next = async (): Promise<Frame> => {
    if (position >= until) throw damaged(file, 'a part does not end');
    const frame = await readFrame(handle, file, { position, number }, seal);
    position = frame.next;
    number += 1;
    return frame;
  };
  while (position < until) {
    const frame = await next();
    const begun = parseJson(frame.content) as { readonly name?: unknown } | null;
    if (frame.kind !== FRAME.part || typeof begun?.name !== 'string') throw damaged(file, 'a part does not begin');
    const blocks = readBlocks(file, next);
    await take(begun.name, blocks.content);
    const part = blocks.end();
    if (part === null) throw new Error(`The part ${begun.name} was not read to its end.`);
    if (part.name !== begun.name) throw damaged(file, 'its parts are mixed up');
  }
}

/** The blocks of one part; the next block is decompressed while one is used. */
function readBlocks(file: string, next: () => Promise<Frame>) {
  let end: Part | null = null;
  const unpack = async (): Promise<Buffer | null> => {
    const frame = await next();
    if (frame.kind === FRAME.block) return decompress(frame.content, { maxOutputLength: BLOCK_BYTES });
    if (frame.kind !== FRAME.end) throw damaged(file, 'a part does not end');
    end = parseJson(frame.content) as Part;
    return null;
  };
  async function* content(): AsyncGenerator<Buffer> {
    const hash = sha256();
    let bytes = 0;
    let ahead = unpack();
    for (let block = await ahead; block !== null; block = await ahead) {
      ahead = unpack();
      // The error of this block is thrown when its turn comes.
      ahead.catch(() => {});
      hash.update(block);
      bytes += block.length;
      yield block;
    }
    if (end === null || end.bytes !== bytes || end.sha256 !== hash.digest('hex')) {
      throw damaged(file, `the part ${end?.name ?? ''} has another content than was written`);
    }
  }
  return { content: content(), end: () => end };
}
