import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const PACKAGE = path.join(import.meta.dirname, '../../packages/sdk');

interface Packed {
  readonly filename: string;
  /** In bytes. */
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

/** Builds and packs the SDK apart from the checkout, where other tests do so too; the tarball is in `folder`. */
export async function packSdk(folder: string): Promise<Packed & { readonly tarball: string }> {
  const staged = path.join(folder, 'staged');
  for (const name of ['LICENSE', 'README.md', 'SKILL.md', 'bin.js', 'package.json'])
    await cp(path.join(PACKAGE, name), path.join(staged, name));
  await run(process.execPath, [path.join(PACKAGE, '../../scripts/build-sdk.ts'), staged]);
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await run('npm', args, { cwd: staged });
  const [packed]: readonly Packed[] = JSON.parse(stdout.slice(stdout.indexOf('[\n')));
  if (packed === undefined) throw new Error('npm packed nothing.');
  return { ...packed, tarball: path.join(folder, packed.filename) };
}
