import { defineConfig } from 'vitest/config';
import { DEADLINE_MS } from './test/deadline.ts';

/** A file's name says the dearest part that it starts (`test/projects.test.ts` sees to it); each kind is a project. */
const KINDS = ['db', 'node', 'program', 'browser'] as const;

const everywhere = (suffix: string): string[] => [`src/**/*${suffix}`, `test/**/*${suffix}`];

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: 'unit',
          include: everywhere('.test.ts'),
          exclude: KINDS.flatMap((kind) => everywhere(`.${kind}.test.ts`)),
          testTimeout: DEADLINE_MS,
          // Nothing here changes what others see: one thread serves many files, at half the CPU time (18 s instead of 35 s).
          pool: 'threads',
          isolate: false,
        },
      },
      ...KINDS.map((kind) => ({
        test: {
          name: kind,
          include: everywhere(`.${kind}.test.ts`),
          globalSetup: ['test/global-setup.ts'],
          // Long enough for several waits one after the other.
          testTimeout: 3 * DEADLINE_MS,
          hookTimeout: 3 * DEADLINE_MS,
          expect: { poll: { timeout: DEADLINE_MS } },
        },
      })),
    ],
  },
});
