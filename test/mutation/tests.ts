import { JestAsymmetricMatchers, JestChaiExpect, JestExtend } from '@vitest/expect';
import * as chai from 'chai';

/**
 * The parts of vitest that the domain's tests need, in one process that can run each test many times. Loaded in place
 * of `vitest`; a missing part fails at once as a missing export.
 */
chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);
export const { expect } = chai;

export interface Test {
  readonly name: string;
  readonly body: () => unknown;
}

/** All tests of the files that were loaded. */
export const tests: Test[] = [];

const around: string[] = [];

type Body = (...values: readonly unknown[]) => unknown;

export function describe(name: string, body: () => void): void {
  around.push(name);
  body();
  around.pop();
}

export const it = Object.assign((name: string, body: () => unknown): void => add(name, body), {
  each:
    (rows: readonly unknown[]) =>
    (name: string, body: Body): void => {
      for (const [index, row] of rows.entries()) {
        add(`${name} #${index}`, () => (Array.isArray(row) ? body(...(row as unknown[])) : body(row)));
      }
    },
});

function add(name: string, body: () => unknown): void {
  tests.push({ name: [...around, name].join(' > '), body });
}
