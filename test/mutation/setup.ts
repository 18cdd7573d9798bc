import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';

/**
 * Before each test file of `scripts/mutate-payments.ts`: switches on the fault that is tried, or records which places
 * of the program the file's tests reach.
 */
interface Switches {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  mutantCoverage?: { perTest: Record<string, Record<string, number>>; static: Record<string, number> };
}

const folder = process.env['MUTATION_FOLDER'] ?? '';
const shared: { __stryker__?: Switches } = globalThis as object;
const switches = (shared.__stryker__ ??= {});
const { mutant, hitLimit } = JSON.parse(readFileSync(`${folder}/active.json`, 'utf8')) as {
  readonly mutant: string | null;
  readonly hitLimit: number;
};
const file = expect.getState().testPath ?? '';

beforeAll(() => {
  if (mutant === null) switches.currentTestId = file;
  else Object.assign(switches, { activeMutant: mutant, hitCount: 0, hitLimit });
});

afterAll(() => {
  Object.assign(switches, {
    activeMutant: undefined,
    currentTestId: undefined,
    hitCount: undefined,
    hitLimit: undefined,
  });
  if (mutant !== null) return;
  const { perTest = {}, static: atLoad = {} } = switches.mutantCoverage ?? {};
  const told = { file, reached: perTest[file] ?? {}, atLoad: Object.keys(atLoad) };
  writeFileSync(`${folder}/${path.basename(file)}.reached.json`, JSON.stringify(told));
});
