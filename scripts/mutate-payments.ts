import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { createVitest, type TestModule, type TestSpecification, type Vitest } from 'vitest/node';
import { copyCheckout } from '../test/copy-checkout.ts';
import { instrument, ROOT, type Mutant } from '../test/mutation/instrument.ts';
import { describeMutant } from '../test/mutation/survivors.ts';

/**
 * Prints the share of small faults in src/app/payments that the tests on the real database and on real nodes catch. It
 * tries a sample, another for each commit, because each fault takes seconds, and fails below the least share. It works
 * in one process, which starts its database once. `MUTATION_SEED` and `MUTATION_COUNT` try another sample,
 * `MUTATION_FILES` only some files.
 */
const MIN_PERCENT = 85;
const COUNT = Number(process.env['MUTATION_COUNT'] ?? 120);
const SEED = Number(process.env['MUTATION_SEED'] ?? seedOfCommit());
const FILES = process.env['MUTATION_FILES'] ?? 'src/app/payments/*.ts';
/** The tests that try the folder. A test that starts a program would not see the faults. */
const TESTS = [
  'src/app/payments/*.test.ts',
  'src/app/{batch,in-transaction}.db.test.ts',
  'src/app/live/*.db.test.ts',
  'src/app/chains/{follow-chain,contract-payments}.node.test.ts',
  'test/simulation/simulation.db.test.ts',
  'test/api/{orders,transactions,checkout,idempotency,bodies,lists,openapi}.db.test.ts',
  'test/dashboard/{payments,new-payment,refunds}.db.test.ts',
];
/** A faulty place that is reached this many times more often than without the fault is in an endless loop. */
const HIT_FACTOR = 100;
/** The time limit of a test's waits in the copy, in ms, because a fault may keep an event away forever. */
const DEADLINE_MS = 15_000;

function seedOfCommit(): number {
  return Number.parseInt(execFileSync('git', ['rev-parse', '--short=7', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }), 16);
}

/** A test file, and the faulty places that it reaches and how often. */
interface Judge {
  readonly spec: TestSpecification;
  readonly reached: Readonly<Record<string, number>>;
}

const copy = copyCheckout();
process.env['MUTATION_FOLDER'] = copy;
let vitest: Vitest | null = null;
let isEnough = false;
try {
  const files = globSync(FILES, { cwd: ROOT }).filter((file) => !/\.(?:test|fixture)\.ts$/.test(file));
  const { files: instrumented, mutants } = await instrument(files.toSorted());
  for (const { name, content } of instrumented) writeFileSync(path.join(copy, name), content);
  const deadlines = path.join(copy, 'test/deadline.ts');
  writeFileSync(deadlines, readFileSync(deadlines, 'utf8').replace('60_000', String(DEADLINE_MS)));
  const config = path.join(copy, 'vitest.config.ts');
  const setup = "setupFiles: ['test/mutation/setup.ts'],";
  writeFileSync(config, readFileSync(config, 'utf8').replaceAll('testTimeout:', `${setup}\n          testTimeout:`));
  process.chdir(copy);
  // Node's own loader would keep the modules of the first run.
  const experimental = { viteModuleRunner: true };
  vitest = await createVitest('test', {
    root: copy,
    watch: false,
    reporters: [{}],
    maxWorkers: 1,
    bail: 1,
    experimental,
  });
  isEnough = await judge(vitest, mutants);
} finally {
  await vitest?.close();
  rmSync(copy, { recursive: true, force: true });
}
// The workers' database and nodes have ended; handles that undici or vitest keep open do not matter. Vitest sets an
// exit code of its own if a fault made a worker hang, which is no failure here.
process.exit(isEnough ? 0 : 1);

/** Whether the tests pass with this fault, or with none. */
async function pass(
  runner: Vitest,
  specs: readonly TestSpecification[],
  mutant: string | null,
  hits = 0,
): Promise<boolean> {
  writeFileSync(path.join(copy, 'active.json'), JSON.stringify({ mutant, hitLimit: HIT_FACTOR * hits }));
  const { testModules, unhandledErrors } = await runner.runTestSpecifications([...specs]);
  if (mutant === null) for (const fault of faultsOf(testModules, unhandledErrors)) console.error(fault);
  return unhandledErrors.length === 0 && testModules.every((module) => module.ok());
}

/** The failed tests with their reasons. Without a fault none may fail. */
function faultsOf(modules: readonly TestModule[], unhandled: readonly unknown[]): readonly string[] {
  const failed = modules.flatMap((module) => [
    ...module.errors().map(({ message }) => `${module.moduleId}: ${message}`),
    ...[...module.children.allTests('failed')].map(
      (test) => `${module.moduleId}: ${test.fullName}: ${test.result().errors?.[0]?.message ?? ''}`,
    ),
  ]);
  return [...failed, ...unhandled.map(String)];
}

async function survey(runner: Vitest): Promise<{ readonly judges: readonly Judge[]; readonly atLoad: Set<string> }> {
  const files = TESTS.flatMap((pattern) => globSync(pattern, { cwd: copy })).toSorted();
  const specs = await runner.globTestSpecifications(files);
  if (!(await pass(runner, specs, null))) throw new Error('The tests fail without any fault.');
  const atLoad = new Set<string>();
  const judges = specs.map((spec): Judge => {
    const file = path.join(copy, `${path.basename(spec.moduleId)}.reached.json`);
    const told = JSON.parse(readFileSync(file, 'utf8')) as {
      readonly reached: Judge['reached'];
      readonly atLoad: readonly string[];
    };
    for (const id of told.atLoad) atLoad.add(id);
    return { spec, reached: told.reached };
  });
  return { judges, atLoad };
}

/** Tries the sample, prints the faults that were not caught, and returns whether enough were. */
async function judge(runner: Vitest, mutants: readonly Mutant[]): Promise<boolean> {
  const { judges, atLoad } = await survey(runner);
  // Faults in code that runs only while a file is loaded cannot be switched on later.
  const isReached = ({ id }: Mutant): boolean => judges.some(({ reached }) => id in reached);
  const triable = mutants.filter((mutant) => isReached(mutant) || !atLoad.has(mutant.id));
  const length = Math.min(COUNT, triable.length);
  const order = fc.shuffledSubarray(triable, { minLength: length, maxLength: length });
  const [sample = []] = fc.sample(order, { seed: SEED, numRuns: 1 });
  console.log(`${length} of ${triable.length} faults; again with MUTATION_SEED=${SEED}`);
  const survivors: Mutant[] = [];
  for (const [at, mutant] of sample.entries()) {
    if (await survives(runner, judges, mutant)) survivors.push(mutant);
    if ((at + 1) % 10 === 0) console.log(`${at + 1} tried, ${survivors.length} not caught`);
  }
  for (const [file, some] of Map.groupBy(sample, ({ fileName }) => fileName)) {
    const lost = survivors.filter(({ fileName }) => fileName === file).length;
    console.log(`${file.padEnd(42)} ${some.length - lost} of ${some.length}`);
  }
  for (const mutant of survivors) {
    const { text, explanation } = describeMutant(mutant);
    console.log(explanation === undefined ? `Not caught: ${text}` : `Explained: ${text}\n    ${explanation.why}`);
  }
  const percent = (100 * (length - survivors.length)) / length;
  console.log(`${percent.toFixed(1)} %: ${length - survivors.length} of ${length} caught`);
  if (percent < MIN_PERCENT) console.error(`The tests catch less than ${MIN_PERCENT} %.`);
  return percent >= MIN_PERCENT;
}

/** Real nodes are asked last: their tests take the longest. */
async function survives(runner: Vitest, judges: readonly Judge[], { id }: Mutant): Promise<boolean> {
  const reaching = judges.filter(({ reached }) => id in reached);
  const isDear = ({ spec }: Judge): boolean => spec.project.name === 'node';
  for (const some of [reaching.filter((one) => !isDear(one)), reaching.filter(isDear)]) {
    const hits = Math.max(...some.map(({ reached }) => reached[id] ?? 0));
    const specs = some.map(({ spec }) => spec);
    if (specs.length > 0 && !(await pass(runner, specs, id, hits))) return false;
  }
  return true;
}
