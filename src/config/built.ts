import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/** The folder where `scripts/build-program.ts` puts the program as a few files instead of several hundred modules. */
export const PROGRAM_FOLDER = 'dist/program';
const MANIFEST = 'manifest.json';

/** Size in bytes and time of the last change in ms since the epoch, with its fraction. */
type Stamp = readonly [size: number, mtimeMs: number];

/** The files that a build was made from, by path in the checkout: our sources, and `package.json` of each library. */
type Stamps = Readonly<Record<string, Stamp>>;

/** The entry file of the built program; null: there is no build of exactly these sources and libraries. */
export function builtProgram(root: string): string | null {
  try {
    const folder = path.join(root, PROGRAM_FOLDER);
    const stamps: Stamps = JSON.parse(readFileSync(path.join(folder, MANIFEST), 'utf8'));
    const isCurrent = Object.entries(stamps).every(([file, stamp]) => isSame(stampOf(`${root}/${file}`), stamp));
    return isCurrent ? path.join(folder, 'cointill.js') : null;
  } catch {
    // There is no build, or its source files are gone: the sources run as they are.
    return null;
  }
}

export interface Manifest {
  /** The name of its file in the build's folder. */
  readonly name: string;
  readonly text: string;
  /** The time of the last change to one of the files, in ms since the epoch. */
  readonly changedAt: number;
}

/** Makes the record that later shows whether a build is up to date. Throws if one of the files cannot be read. */
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
 * Copies and images of a checkout may keep only whole seconds; an edit within the same second is practically
 * impossible.
 */
function isSame([size, mtimeMs]: Stamp, [builtSize, builtMtimeMs]: Stamp): boolean {
  const isCopy = mtimeMs % 1000 === 0 && mtimeMs === Math.floor(builtMtimeMs / 1000) * 1000;
  return size === builtSize && (mtimeMs === builtMtimeMs || isCopy);
}

/** This program's version, from package.json. */
export function version(): string {
  const text = readFileSync(path.join(import.meta.dirname, '../../package.json'), 'utf8');
  const parsed: unknown = JSON.parse(text);
  const field = typeof parsed === 'object' && parsed !== null && 'version' in parsed ? parsed.version : undefined;
  return typeof field === 'string' ? field : 'unknown';
}
