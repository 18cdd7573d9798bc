import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** The fields of a test that a line needs. */
type Tried = Pick<TestCase, 'fullName' | 'ok' | 'diagnostic'> & {
  readonly module: Pick<TestModule, 'relativeModuleId'>;
};

/** The tests that passed, though not at their first attempt: how many, and a line each. Empty: there were none. */
export function secondAttempts(tests: Iterable<Tried>): readonly string[] {
  const found = [...tests].filter((test) => test.ok() && (test.diagnostic()?.retryCount ?? 0) > 0);
  if (found.length === 0) return [];
  const lines = found.map(({ module, fullName }) => `${module.relativeModuleId} > ${fullName}`);
  return [`${found.length} passed at a second attempt alone (docs/decisions/0171):`, ...lines.toSorted()];
}

/** Prints these tests after the summary, on GitHub as a warning of the run: nobody mends a race that nobody sees. */
export class SecondAttempts implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = secondAttempts(modules.flatMap((module) => [...module.children.allTests()]));
    if (lines.length === 0) return;
    process.stdout.write(`\n${lines.join('\n  ')}\n`);
    if (process.env['GITHUB_ACTIONS'] === 'true') process.stdout.write(`::warning::${lines.join('%0A')}\n`);
  }
}
