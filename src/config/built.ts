import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/** Where `scripts/build-program.ts` puts the program as a few files instead of several hundred modules. */
export const PROGRAM_FOLDER = 'dist/program';
const MANIFEST = 'manifest.json';

/** Size in bytes and time of the last change in ms since the epoch, with its fraction. */
type Stamp = readonly [size: number, mtimeMs: number];

/** What a build was made of: our sources, and `package.json` of each library. Paths are relative to the checkout. */
type Stamps = Readonly<Record<string, Stamp>>;

/** The built program's first file where there is a build of just these sources and libraries, else null. */
export function builtProgram(root: string): string | null {
  try {
    const folder = path.join(root, PROGRAM_FOLDER);
    const stamps: Stamps = JSON.parse(readFileSync(path.join(folder, MANIFEST), 'utf8'));
    const isCurrent = Object.entries(stamps).every(([file, stamp]) => isSame(stampOf(`${root}/${file}`), stamp));
    return isCurrent ? path.join(folder, 'cointill.js') : null;
  } catch {
    // No build, or one of files that are gone: the sources run as they are.
    return null;
  }
}

export interface Manifest {
  /** Of its file in the build's folder. */
  readonly name: string;
  readonly text: string;
  /** When the last of the files was changed, in ms since the epoch. */
  readonly changedAt: number;
}

/** What tells later whether a build of these files is still one of them. Throws where one of them cannot be read. */
export function manifestOf(root: string, files: readonly string[]): Manifest {
  const stamps = files.map((file) => [file, stampOf(`${root}/${file}`)] as const);
  const text = `${JSON.stringify(Object.fromEntries(stamps))}\n`;
  return { name: MANIFEST, text, changedAt: Math.max(...stamps.map(([, [, mtimeMs]]) => mtimeMs)) };
}

function stampOf(file: string): Stamp {
  const { size, mtimeMs } = statSync(file);
  return [size, mtimeMs];
}

/**
 * Copies and images of a checkout may keep whole seconds only; an edit in just such a moment is as good as impossible.
 */
function isSame([size, mtimeMs]: Stamp, [builtSize, builtMtimeMs]: Stamp): boolean {
  const isCopy = mtimeMs % 1000 === 0 && mtimeMs === Math.floor(builtMtimeMs / 1000) * 1000;
  return size === builtSize && (mtimeMs === builtMtimeMs || isCopy);
}
