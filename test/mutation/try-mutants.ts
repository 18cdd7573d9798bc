import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import * as fc from 'fast-check';
import { HOME, instrument, ROOT, type Mutant } from './instrument.ts';
import { tests, type Test } from './tests.ts';

/** `static`: only what runs when the file is loaded would change, so the tests are no judge of it here. */
export type Verdict = 'caught' | 'survived' | 'untested' | 'static';

/** The switches of the mutated code, under the name that Stryker's instrumenter gives them. */
interface Switches {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  mutantCoverage?: {
    readonly static: Record<string, number>;
    readonly perTest: Record<string, Record<string, number>>;
  };
}
const switches: Switches = {};
Object.assign(globalThis, { __stryker__: switches });

/** So many times more often than without the fault may a faulty place be reached before its loop is one without end. */
const HIT_FACTOR = 100;

/** Writes the files, all mutants of one in one copy of it, with what lies beside them and its tests. */
async function writeInstrumented(files: readonly string[]): Promise<readonly Mutant[]> {
  const result = await instrument(files);
  rmSync(path.join(HOME, 'src'), { recursive: true, force: true });
  const beside = globSync('src/domain/**/*.ts', { cwd: ROOT })
    .filter((name) => !files.includes(name))
    .map((name) => ({ name, content: readFileSync(path.join(ROOT, name), 'utf8') }));
  for (const { name, content } of [...result.files, ...beside]) {
    const file = path.join(HOME, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return result.mutants;
}

async function passes({ body }: Test): Promise<boolean> {
  try {
    await body();
    return true;
  } catch {
    return false;
  }
}

/** Runs every test once without a fault: which mutants it reaches and how often, and how long it takes. */
async function checkNodes(): Promise<ReadonlyMap<string, readonly { readonly test: Test; readonly hits: number }[]>> {
  const reached = new Map<string, { test: Test; hits: number; ms: number }[]>();
  for (const [index, test] of tests.entries()) {
    switches.currentTestId = `${index}`;
    const startedAt = performance.now();
    if (!(await passes(test))) throw new Error(`This test fails without any fault: ${test.name}`);
    const ms = performance.now() - startedAt;
    for (const [id, hits] of Object.entries(switches.mutantCoverage?.perTest[`${index}`] ?? {})) {
      reached.set(id, [...(reached.get(id) ?? []), { test, hits, ms }]);
    }
  }
  switches.currentTestId = undefined;
  // The quick ones first: one that fails is enough.
  for (const list of reached.values()) list.sort((a, b) => a.ms - b.ms);
  return reached;
}

/**
 * Tries each mutant of the files on the tests of the domain. The same draws each time: the score is no matter of
 * chance.
 */
export async function tryMutants(
  files: readonly string[],
  onVerdict: (mutant: Mutant, verdict: Verdict) => void,
): Promise<void> {
  const mutants = await writeInstrumented(files);
  registerHooks({
    resolve: (specifier, context, next) =>
      next(
        specifier === 'vitest' ? pathToFileURL(path.join(import.meta.dirname, 'tests.ts')).href : specifier,
        context,
      ),
  });
  fc.configureGlobal({ seed: 20_260_115, endOnFailure: true });
  const judges = globSync('src/domain/**/*.test.ts', { cwd: HOME }).toSorted();
  for (const file of [...files, ...judges]) {
    await import(pathToFileURL(path.join(HOME, file)).href);
  }
  const reached = await checkNodes();
  const atLoad = switches.mutantCoverage?.static ?? {};
  for (const mutant of mutants) {
    const reaching = reached.get(mutant.id);
    if (reaching === undefined) {
      onVerdict(mutant, mutant.id in atLoad ? 'static' : 'untested');
      continue;
    }
    let verdict: Verdict = 'survived';
    for (const { test, hits } of reaching) {
      Object.assign(switches, { activeMutant: mutant.id, hitCount: 0, hitLimit: HIT_FACTOR * hits });
      const isCaught = !(await passes(test));
      Object.assign(switches, { activeMutant: undefined, hitCount: undefined, hitLimit: undefined });
      if (!isCaught) continue;
      verdict = 'caught';
      break;
    }
    onVerdict(mutant, verdict);
  }
}
