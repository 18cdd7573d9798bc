import { promisify } from 'node:util';
import { constants, zstdCompress } from 'node:zlib';
import type { RandomBytes } from '../domain/clock.ts';
import { BLOCK_BYTES, FRAME, headLines, LENGTH_BYTES, sha256, type FrameKind, type Head, type Part } from './format.ts';
import { newEncryption, openSeal, type Seal } from './seal.ts';

const compress = promisify(zstdCompress);
/** The lowest level: ids, hashes and signatures do not compress, and higher levels take up to ten times as long. */
const QUICKLY = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
/** A block is compressed on another thread while the next arrives. */
const MAX_UNDER_WAY = 2;

/** Receives the bytes of an archive, in order. */
export type Sink = (bytes: Buffer) => Promise<void>;

export interface ArchiveWriter {
  /** Writes one part; `fill` adds its content in chunks of any size, which it must not change afterwards. */
  part(name: string, fill: (add: (piece: Buffer) => Promise<void>) => Promise<void>): Promise<Part>;
  /** Writes the manifest and the end; returns the length of the archive. */
  finish(manifest: object): Promise<{ readonly bytes: number }>;
}

/** Begins an archive; with a passphrase, nobody without it can read or change anything. */
export async function writeArchive(
  sink: Sink,
  { passphrase, randomBytes }: { readonly passphrase: string | null; readonly randomBytes: RandomBytes },
): Promise<ArchiveWriter> {
  const encryption = passphrase === null ? null : newEncryption(randomBytes);
  const head: Head = { compression: 'zstd', encryption };
  const seal = encryption === null || passphrase === null ? null : await openSeal(head, encryption, passphrase);
  const out = createFrames(sink, seal);
  await out.raw(headLines(head));
  return {
    part: async (name, fill) => {
      await out.frame(FRAME.part, Buffer.from(JSON.stringify({ name })));
      const { bytes, digest } = await writeBlocks(out, fill);
      const part = { name, bytes, sha256: digest };
      await out.frame(FRAME.end, Buffer.from(JSON.stringify(part)));
      return part;
    },
    finish: async (manifest) => {
      const at = out.written();
      await out.frame(FRAME.manifest, Buffer.from(JSON.stringify(manifest)));
      const trailer = Buffer.alloc(LENGTH_BYTES + 12);
      trailer.writeBigUInt64BE(BigInt(at), LENGTH_BYTES);
      trailer.writeUInt32BE(out.frames(), LENGTH_BYTES + 8);
      await out.raw(trailer);
      await out.raw(out.digest());
      return { bytes: out.written() };
    },
  };
}

type Frames = ReturnType<typeof createFrames>;

function createFrames(sink: Sink, seal: Seal | null) {
  const hash = sha256();
  let written = 0;
  let frames = 0;
  const raw = async (bytes: Buffer): Promise<void> => {
    hash.update(bytes);
    written += bytes.length;
    await sink(bytes);
  };
  return {
    raw,
    written: () => written,
    frames: () => frames,
    digest: () => hash.copy().digest(),
    frame: async (kind: FrameKind, content: Buffer): Promise<void> => {
      const plain = Buffer.concat([Buffer.of(kind), content]);
      const body = seal === null ? plain : seal.close(frames, plain);
      frames += 1;
      const length = Buffer.alloc(LENGTH_BYTES);
      length.writeUInt32BE(body.length);
      await raw(Buffer.concat([length, body]));
    },
  };
}

/** Collects chunks into blocks and writes them in order, while later ones are being compressed. */
async function writeBlocks(out: Frames, fill: Parameters<ArchiveWriter['part']>[1]) {
  const hash = sha256();
  const underWay: Promise<Buffer>[] = [];
  let pieces: Buffer[] = [];
  let collected = 0;
  let bytes = 0;
  const writeFirst = async (): Promise<void> => {
    const first = underWay.shift();
    if (first !== undefined) await out.frame(FRAME.block, await first);
  };
  const close = async (): Promise<void> => {
    const block = Buffer.concat(pieces);
    pieces = [];
    collected = 0;
    const compressed = compress(block, QUICKLY);
    // The error of this block is thrown when its turn comes.
    compressed.catch(() => {});
    underWay.push(compressed);
    if (underWay.length >= MAX_UNDER_WAY) await writeFirst();
  };
  await fill(async (piece) => {
    hash.update(piece);
    bytes += piece.length;
    for (let rest = piece; rest.length > 0;) {
      const taken = rest.subarray(0, BLOCK_BYTES - collected);
      pieces.push(taken);
      collected += taken.length;
      rest = rest.subarray(taken.length);
      if (collected === BLOCK_BYTES) await close();
    }
  });
  if (collected > 0) await close();
  while (underWay.length > 0) await writeFirst();
  return { bytes, digest: hash.digest('hex') };
}
