import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** A small fault in one place of a file: what it replaces there, and by what. */
export interface Mutant {
  readonly id: string;
  readonly fileName: string;
  readonly replacement: string;
  readonly location: { readonly start: Place; readonly end: Place };
}
/** Both count from 0. */
interface Place {
  readonly line: number;
  readonly column: number;
}

interface Instrumented {
  readonly files: readonly { readonly name: string; readonly content: string }[];
  readonly mutants: readonly Mutant[];
}

export const ROOT = path.join(import.meta.dirname, '../..');
/** Where `scripts/mutation.sh` installs what makes the faults. */
export const HOME = path.join(ROOT, 'dist/mutation');

/** Finds the mutants of the files, named from the root, and gives each file with all of its mutants in one text. */
export async function instrument(files: readonly string[]): Promise<Instrumented> {
  const home = path.join(HOME, 'node_modules/@stryker-mutator/instrumenter/dist/src/index.js');
  const silent = { isDebugEnabled: () => false, debug: () => {}, info: () => {}, warn: () => {} };
  const { Instrumenter } = (await import(pathToFileURL(home).href)) as {
    readonly Instrumenter: new (logger: object) => {
      instrument(files: readonly object[], options: object): Promise<Instrumented>;
    };
  };
  const sources = files.map((name) => ({ name, mutate: true, content: readFileSync(path.join(ROOT, name), 'utf8') }));
  return new Instrumenter(silent).instrument(sources, { excludedMutations: [], ignorers: [], plugins: null });
}
