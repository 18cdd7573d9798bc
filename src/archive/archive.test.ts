import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { assert, array, asyncProperty, record, string, uint8Array, uniqueArray } from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BackupError } from './format.ts';
import { readArchive } from './read-archive.ts';
import { writeArchive } from './write-archive.ts';

const PASSPHRASE = 'correct horse battery staple';

interface Content {
  readonly name: string;
  readonly pieces: readonly Uint8Array[];
}

async function folder(): Promise<string> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'cointill-archive-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

async function write(parts: readonly Content[], passphrase: string | null): Promise<Buffer> {
  const written: Buffer[] = [];
  const writer = await writeArchive(async (bytes) => void written.push(Buffer.from(bytes)), {
    passphrase,
    randomBytes,
  });
  for (const { name, pieces } of parts) {
    await writer.part(name, async (add) => {
      for (const piece of pieces) await add(Buffer.from(piece));
    });
  }
  await writer.finish({ parts: parts.map(({ name }) => name) });
  return Buffer.concat(written);
}

async function read(dir: string, bytes: Uint8Array, passphrase: string | null): Promise<ReadonlyMap<string, Buffer>> {
  const file = path.join(dir, 'archive');
  await writeFile(file, bytes);
  const reader = await readArchive(file, async () => passphrase);
  try {
    const contents = new Map<string, Buffer>();
    await reader.parts(async (name, content) => {
      const pieces: Buffer[] = [];
      for await (const piece of content) pieces.push(piece);
      contents.set(name, Buffer.concat(pieces));
    });
    expect(reader.manifest).toEqual({ parts: [...contents.keys()] });
    return contents;
  } finally {
    await reader.close();
  }
}

const SAMPLE: readonly Content[] = [
  { name: 'first', pieces: [Buffer.from('{"a":1}'), Buffer.alloc(5 * 1024 * 1024, 'abc'), randomBytes(70_000)] },
  { name: 'empty', pieces: [] },
  { name: 'last', pieces: [randomBytes(10)] },
];

describe('an archive', () => {
  it('gives back what was put in, in whatever pieces, with a passphrase and without', async () => {
    const dir = await folder();
    const content = record({
      name: string({ maxLength: 20 }),
      pieces: array(uint8Array({ maxLength: 2_000 }), { maxLength: 6 }),
    });
    await assert(
      asyncProperty(uniqueArray(content, { selector: ({ name }) => name, maxLength: 4 }), async (parts) => {
        const contents = await read(dir, await write(parts, null), null);
        expect([...contents]).toEqual(parts.map(({ name, pieces }) => [name, Buffer.concat(pieces)]));
      }),
      { numRuns: 50 },
    );
    const contents = await read(dir, await write(SAMPLE, PASSPHRASE), PASSPHRASE);
    expect([...contents.keys()]).toEqual(SAMPLE.map(({ name }) => name));
    for (const { name, pieces } of SAMPLE) expect(contents.get(name)?.equals(Buffer.concat(pieces))).toBe(true);
  });

  it.each([null, PASSPHRASE])(
    'is refused whole where one bit of it is another (passphrase: %s)',
    async (passphrase) => {
      const dir = await folder();
      const bytes = await write(SAMPLE, passphrase);
      // Every place of the head and the trailer, and 50 between.
      const places = [
        ...Array.from({ length: 40 }, (_, index) => index),
        ...Array.from({ length: 50 }, (_, index) => 40 + Math.floor(((bytes.length - 120) * index) / 50)),
        ...Array.from({ length: 48 }, (_, index) => bytes.length - 1 - index),
      ];
      for (const place of places) {
        const flipped = Buffer.from(bytes);
        flipped[place] = (flipped[place] ?? 0) ^ (1 << (place % 8));
        await expect(read(dir, flipped, passphrase), `byte ${place} of ${bytes.length}`).rejects.toThrow(BackupError);
      }
    },
  );

  it('is refused where it was cut, or where anything follows it', async () => {
    const dir = await folder();
    const bytes = await write(SAMPLE, null);
    for (const length of [0, 1, 20, 60, 500, bytes.length - 33, bytes.length - 1]) {
      await expect(read(dir, bytes.subarray(0, length), null)).rejects.toThrow(BackupError);
    }
    await expect(read(dir, Buffer.concat([bytes, Buffer.of(0)]), null)).rejects.toThrow(/checksum/);
  });

  it('says what is wrong with the passphrase, and holds nothing that is readable without', async () => {
    const dir = await folder();
    const bytes = await write([{ name: 'key', pieces: [Buffer.from('the sealing key')] }], PASSPHRASE);
    await expect(read(dir, bytes, null)).rejects.toThrow(/--passphrase-file/);
    await expect(read(dir, bytes, `${PASSPHRASE}.`)).rejects.toThrow(/does not open with this passphrase/);
    expect(bytes.includes('sealing')).toBe(false);
    expect(bytes.includes('"key"')).toBe(false);
  });

  it('refuses the parts of another archive that somebody with a checksum put in their stead', async () => {
    const dir = await folder();
    const ours = await write([{ name: 'a', pieces: [Buffer.alloc(100, 1)] }], PASSPHRASE);
    const theirs = await write([{ name: 'a', pieces: [Buffer.alloc(100, 2)] }], PASSPHRASE);
    const headLength = ours.indexOf('\n', ours.indexOf('\n') + 1) + 1;
    const mixed = Buffer.concat([ours.subarray(0, headLength), theirs.subarray(headLength, -32)]);
    const { createHash } = await import('node:crypto');
    const resealed = Buffer.concat([mixed, createHash('sha256').update(mixed).digest()]);
    await expect(read(dir, resealed, PASSPHRASE)).rejects.toThrow(/does not open/);
  });

  it('refuses a file of a newer format and one that is none, in other words', async () => {
    const dir = await folder();
    await expect(read(dir, Buffer.from('cointill backup 2\n{}\n'), null)).rejects.toThrow(/newer version/);
    await expect(read(dir, Buffer.from('%PDF-1.7\n'), null)).rejects.toThrow(/no backup of Cointill/);
    expect((await readFile(path.join(dir, 'archive'))).length).toBeGreaterThan(0);
  });
});
