import { globSync } from 'node:fs';
import { ROOT, type Mutant } from '../test/mutation/instrument.ts';
import { describeMutant, EXPLANATIONS, type Explanation } from '../test/mutation/survivors.ts';
import { tryMutants, type Verdict } from '../test/mutation/try-mutants.ts';

/**
 * Prints the share of small faults that the domain's tests catch, by file. Fails below the minimum share, and for
 * faults that were neither caught nor explained in `test/mutation/survivors.json`: they need a test, or simpler code.
 */
const MIN_PERCENT = 90;

interface Tried {
  readonly mutant: Mutant;
  readonly verdict: Verdict;
}

const wanted = process.argv.slice(2);
const files =
  wanted.length > 0
    ? wanted
    : globSync('src/domain/*.ts', { cwd: ROOT }).filter((file) => !/\.(?:test|fixture)\.ts$/.test(file));
const tried: Tried[] = [];
await tryMutants(files.toSorted(), (mutant, verdict) => tried.push({ mutant, verdict }));

function scoreOf(some: readonly Tried[]): { readonly percent: number; readonly text: string } {
  const caught = some.filter(({ verdict }) => verdict === 'caught').length;
  const all = some.filter(({ verdict }) => verdict !== 'static').length;
  const percent = all === 0 ? 100 : (100 * caught) / all;
  return { percent, text: `${percent.toFixed(1).padStart(5)} %  ${caught} of ${all}` };
}

const used = new Set<Explanation>();
const unexplained: string[] = [];
for (const [file, some] of Map.groupBy(tried, ({ mutant }) => mutant.fileName)) {
  if (some.some(({ verdict }) => verdict !== 'static')) console.log(`${file.padEnd(34)} ${scoreOf(some).text}`);
  for (const { mutant, verdict } of some) {
    if (verdict !== 'survived' && verdict !== 'untested') continue;
    const { text, explanation } = describeMutant(mutant);
    if (explanation !== undefined) used.add(explanation);
    else unexplained.push(text);
  }
}
const { percent, text } = scoreOf(tried);
console.log(`${'all'.padEnd(34)} ${text}`);

const problems = unexplained.map((one) => `Not caught, and not explained in test/mutation/survivors.json: ${one}`);
for (const { file, line } of EXPLANATIONS.filter((one) => files.includes(one.file) && !used.has(one))) {
  problems.push(`Caught now, so take it out of test/mutation/survivors.json: ${file}: ${line}`);
}
if (percent < MIN_PERCENT) problems.push(`The tests catch less than ${MIN_PERCENT} %.`);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
