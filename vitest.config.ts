import { statSync } from 'node:fs';
import os, { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { DEADLINE_MS } from './test/deadline.ts';
import { isMain } from './test/extent.ts';
import { LATER, WAYS } from './test/main-tests.ts';
import { memoryFolder } from './test/memory-folder.ts';
import { SecondAttempts } from './test/second-attempts.ts';

// Inherited by the workers and what they start.
process.env['TMPDIR'] = memoryFolder() ?? os.tmpdir();

/** A file's name says the dearest part that it starts (`test/projects.test.ts` sees to it); each kind is a project. */
const KINDS = ['db', 'node', 'program', 'browser'] as const;

/**
 * The long files first, so that no worker is left alone with one at the end: dear kinds before cheap ones, and among
 * them the larger files, for a fresh clone knows no durations. One kind after the other also lets each worker go on
 * with what it has loaded.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = ['program', 'browser', 'node', 'db', 'unit'];
    // A small file with hundreds of histories.
    const isFirst = (moduleId: string): boolean => moduleId.includes('/simulation/');
    const rank = ({ project, moduleId }: TestSpecification): number =>
      isFirst(moduleId) ? -1 : order.indexOf(project.name) - statSync(moduleId).size / 1e9;
    return files.toSorted((a, b) => rank(a) - rank(b));
  }
}

/**
 * Node loads the sources itself, as it does for the program: that takes a tenth less CPU time than Vite's runner.
 * Leaving out the loader that replaces modules by mocks, which no test has, takes another tenth less.
 */
const experimental = { viteModuleRunner: false, nodeLoader: false };

const everywhere = (suffix: string): string[] => [`src/**/*${suffix}`, `test/**/*${suffix}`];

/** The test files of a kind that this run tries. */
function filesOf(kind: (typeof KINDS)[number]): string[] {
  const ways = WAYS.filter((file) => file.endsWith(`.${kind}.test.ts`));
  return isMain && ways.length > 0 ? ways : everywhere(`.${kind}.test.ts`);
}

export default defineConfig({
  test: {
    experimental,
    // Programs and nodes spend half of their time waiting for each other.
    maxWorkers: 2 * availableParallelism(),
    sequence: { sequencer: LongestFirst },
    reporters: [
      'default',
      ...(process.env['GITHUB_ACTIONS'] === 'true' ? ['github-actions'] : []),
      new SecondAttempts(),
    ],
    projects: [
      {
        test: {
          name: 'unit',
          experimental,
          include: everywhere('.test.ts'),
          exclude: KINDS.flatMap((kind) => everywhere(`.${kind}.test.ts`)),
          testTimeout: DEADLINE_MS,
          restoreMocks: true,
          // Nothing here changes what others see: one process serves many files, at half the CPU time. Threads crash
          // now and then as they end (nodejs/node#60755).
          isolate: false,
        },
      },
      ...KINDS.map((kind) => ({
        test: {
          name: kind,
          experimental,
          // One process serves many files; their modules are loaded once (db: 83 s of CPU instead of 128 s).
          isolate: false,
          restoreMocks: true,
          include: filesOf(kind),
          exclude: isMain ? [...LATER] : [],
          retry: process.env['CI'] === 'true' && kind !== 'db' ? 1 : 0,
          globalSetup: ['test/global-setup.ts'],
          setupFiles: kind === 'db' ? ['test/record-statements.ts'] : [],
          // Long enough for several waits one after the other.
          testTimeout: 3 * DEADLINE_MS,
          hookTimeout: 3 * DEADLINE_MS,
          expect: { poll: { timeout: DEADLINE_MS } },
        },
      })),
    ],
  },
});
