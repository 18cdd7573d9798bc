import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { importFault, webImportFault } from './rooms.ts';

/**
 * Enforces the import rules of `scripts/rooms.ts`, where linters only know deny lists; that no files import each other
 * in a circle, types included; and that use cases, and the rooms below them, name neither options nor commands.
 */
const ROOT = path.join(import.meta.dirname, '..');
const FOR_TESTS = /\.(?:test|fixture)\.ts$/;
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*'(?<target>[\w@.][^'\n]*)'/g;
const files = globSync('src/**/*.ts', { cwd: ROOT }).filter((file) => !FOR_TESTS.test(file));
const faults = files.flatMap((file) => {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  const targets = [...text.matchAll(IMPORT)].map(({ groups }) => groups?.['target'] ?? '');
  const found = [...targets, './'].map((target) => importFault(file, target));
  return [...new Set(found)].filter((fault) => fault !== null).map((fault) => `${file} ${fault}`);
});

/** Rooms whose callers name options and commands. */
const NAMELESS = /^src\/(?:app|domain|rails|modes)\//;
const COMMAND = /['"`\s(]--[a-z]|\bcointill [a-z]/;
const named = files
  .filter((file) => NAMELESS.test(file))
  .flatMap((file) =>
    readFileSync(path.join(ROOT, file), 'utf8')
      .split('\n')
      .map((line, index) => ({ line, place: `${file}:${index + 1}` })),
  )
  .filter(({ line }) => COMMAND.test(line))
  .map(({ place }) => `${place} names an option or a command, which only cli/ and http/ do`);

const pages = globSync('web/**/*.{ts,tsx}', { cwd: ROOT, exclude: ['web/dist/**'] });
const pageFaults = pages.flatMap((file) =>
  statementsOf(file).flatMap(({ target, isTypeOnly }) => {
    const fault = webImportFault(file, target, isTypeOnly);
    return fault === null ? [] : [`${file} ${fault}`];
  }),
);
const importsOf = new Map([...files, ...pages].map((file) => [file, relativeImports(file)]));

function relativeImports(file: string): readonly string[] {
  return statementsOf(file).map(({ target }) => path.join(path.dirname(file), target));
}

/** The statements by which a file imports, or exports again, parts of other files of ours. */
function statementsOf(file: string): readonly { readonly target: string; readonly isTypeOnly: boolean }[] {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  return [...text.matchAll(/^(?:import|export)\b( type\b)?[^;]*?\bfrom '(\.[^']+)'/gm)].map(
    ([, type, target = '']) => ({
      target,
      isTypeOnly: type !== undefined,
    }),
  );
}

/** Files whose imports were followed to their ends. */
const followed = new Set<string>();

/** The circles that a file is in or leads to, each as the files along it. */
function circlesFrom(file: string, way: readonly string[] = []): readonly string[] {
  const start = way.indexOf(file);
  if (start >= 0) return [`${[...way.slice(start), file].join(' -> ')} is a circle of imports`];
  if (followed.has(file)) return [];
  followed.add(file);
  return (importsOf.get(file) ?? []).flatMap((target) => circlesFrom(target, [...way, file]));
}

const all = [...faults, ...pageFaults, ...named, ...[...importsOf.keys()].flatMap((file) => circlesFrom(file))];
for (const fault of all) console.error(fault);
if (all.length > 0) process.exit(1);
