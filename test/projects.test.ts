import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { LATER, WAYS } from './main-tests.ts';

const ROOT = path.join(import.meta.dirname, '..');

/** From the cheapest to the dearest, as in vitest.config.ts. */
const KINDS = ['unit', 'db', 'node', 'program', 'browser'] as const;

/**
 * Imports that start an expensive part: a file that imports one, also through another file, is of this kind or of a
 * more expensive one.
 */
const STARTS: Readonly<Record<string, (typeof KINDS)[number]>> = {
  'test/database.ts': 'db',
  'test/redis.ts': 'db',
  'test/anvil.ts': 'node',
  'test/litecoind.ts': 'node',
  'src/cli/program.fixture.ts': 'program',
  'test/program.ts': 'program',
  'test/e2e/live-utxo-service.fixture.ts': 'program',
  'test/e2e/live-evm.fixture.ts': 'program',
  'test/e2e/payment-page-service.fixture.ts': 'program',
  'test/browser.ts': 'browser',
  'playwright-core': 'browser',
};

const importsOfFile = new Map<string, readonly string[]>();

/** The run-time imports of a file, without types: packages by name, files by their path from the root. */
function importsOf(file: string): readonly string[] {
  const known = importsOfFile.get(file);
  if (known !== undefined) return known;
  const source = file.endsWith('.ts') ? readFileSync(path.join(ROOT, file), 'utf8') : '';
  const specifiers = source.matchAll(
    /^(?:import|export)\s+(?!type\s)(?:[^'";]*?\sfrom\s+)?'([^']+)'|import\('([^']+)'\)/gm,
  );
  const found = Array.from(specifiers, ([, fixed, dynamic]) => fixed ?? dynamic ?? '').map((specifier) =>
    specifier.startsWith('.') ? path.posix.join(path.posix.dirname(file), specifier) : specifier,
  );
  importsOfFile.set(file, found);
  return found;
}

/** The ways from a test file to what starts a part dearer than its name says. */
function tooDear(test: string): readonly string[] {
  const rank = KINDS.findIndex((kind) => test.endsWith(`.${kind}.test.ts`));
  const seen = new Set<string>();
  const look = (file: string, way: readonly string[]): readonly string[] => {
    if (seen.has(file)) return [];
    seen.add(file);
    const kind = STARTS[file];
    const isDear = kind !== undefined && KINDS.indexOf(kind) > Math.max(0, rank);
    if (isDear) return [`${[...way, file].join(' > ')}: name it *.${kind}.test.ts`];
    return file.startsWith('src/') || file.startsWith('test/')
      ? importsOf(file).flatMap((next) => look(next, [...way, file]))
      : [];
  };
  return look(test, []);
}

describe('the name of a test file', () => {
  const tests = globSync('{src,test}/**/*.test.ts', { cwd: ROOT }).map((file) => file.split(path.sep).join('/'));

  it('says the dearest part that the file starts, so that cheap runs stay cheap', () => {
    expect(tests.length).toBeGreaterThan(100);
    expect(tests.flatMap(tooDear)).toEqual([]);
  });

  it.each(Object.keys(STARTS).filter((file) => file.endsWith('.ts')))('is held against %s, which exists', (file) => {
    expect(globSync(file, { cwd: ROOT })).toEqual([file]);
  });

  it.each([...WAYS, ...LATER])('stands in the list of main tests as %s, and exists', (file) => {
    expect(tests).toContain(file);
  });
});

describe('what tests share', () => {
  const files = globSync('{src,web,test}/**/*.ts', { cwd: ROOT, exclude: ['web/dist/**'] })
    .map((file) => file.split(path.sep).join('/'))
    .filter((file) => !file.endsWith('.d.ts'));
  const isOfTests = (file: string): boolean => file.startsWith('test/') || /\.(?:test|fixture)\.ts$/.test(file);

  it('is named *.fixture.ts where it lies among the program, and no other word stands in its place', () => {
    const words = files.flatMap((file) => path.basename(file, '.ts').split('.').slice(1).slice(-1));
    expect(new Set(words)).toEqual(new Set(['test', 'fixture']));
  });

  it('is imported by tests alone, and imports what no program may', () => {
    const wrong = files
      .filter((file) => !isOfTests(file))
      .filter((file) => importsOf(file).some((target) => target === 'vitest' || isOfTests(target)));
    expect(wrong).toEqual([]);
  });

  it('is all that neither the program nor a script imports, but for where it starts', () => {
    const importing = [...files.filter((file) => !isOfTests(file)), ...globSync('scripts/*.ts', { cwd: ROOT })];
    const imported = new Set(
      importing.flatMap((file) => {
        const all = readFileSync(path.join(ROOT, file), 'utf8').matchAll(/(?:from|import|new URL) ?\(?'(\.[^']+)'/g);
        return Array.from(all, ([, target = '']) => path.posix.join(path.posix.dirname(file), target));
      }),
    );
    const idle = files.filter((file) => file.startsWith('src/') && !isOfTests(file) && !imported.has(file));
    expect(idle.toSorted()).toEqual(['src/cli/client/main.ts', 'src/cli/launch.ts']);
  });
});
