import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { copyCheckout } from '../test/copy-checkout.ts';
import { blocksOf, GUIDED_CHANGES, lineOf, type GuidedChange, type Place } from './guided-changes.ts';

/**
 * Follows the guides of docs/how-to/ in a copy and counts the files that they touch. Fails if a guide can no longer be
 * followed, if the result does not compile or its tests fail, if it touches more files than allowed, and if a file that
 * the compiler should ask for can be forgotten. Without tests: `npm run count:touched -- --no-tests`.
 */
/** The tests that the guides name and that need no more than a database. */
const TESTS = [
  'src/domain',
  'src/http/checkout',
  'src/store/payments/payment-rows',
  'src/store/payments/payment-list',
  'src/store/tables',
  'src/app/webhooks/webhook-endpoints',
  'test/network-names',
  'test/readme',
  'test/api',
];

const copy = copyCheckout();
const problems: string[] = [];
try {
  for (const change of GUIDED_CHANGES) doChange(change);
  const described = spawnSync(process.execPath, ['scripts/write-openapi.ts'], { cwd: copy, encoding: 'utf8' });
  if (described.status !== 0) problems.push(`docs/openapi.json cannot be written:\n${described.stderr}`);
  const document = read('docs/openapi.json');
  for (const { guide, shows } of GUIDED_CHANGES) {
    if (shows !== null && !document.includes(shows))
      problems.push(`${guide}: docs/openapi.json does not name ${shows}.`);
  }
  if (problems.length === 0 && !process.argv.includes('--no-tests')) runTests();
} finally {
  rmSync(copy, { recursive: true, force: true });
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

function read(file: string): string {
  return readFileSync(path.join(copy, file), 'utf8');
}

/** Follows one guide, prints the touched files, and keeps the result, from which the next guide continues. */
function doChange({ what, guide, maxFiles, blocks, besides, forcedByTypes, shows }: GuidedChange): void {
  const codes = blocksOf(read(`docs/how-to/${guide}`));
  if (codes.length !== blocks.length) {
    throw new Error(`${guide} has ${codes.length} blocks of code; scripts/guided-changes.ts places ${blocks.length}.`);
  }
  const text = read(`docs/how-to/${guide}`);
  const steps = [...blocks.map((place, at) => ({ ...place, text: codes[at] ?? '' })), ...besides];
  const original = new Map<string, string | null>();
  for (const step of steps) {
    if (!text.includes(path.posix.basename(step.file))) problems.push(`${guide} does not name ${step.file}.`);
    const file = numbered(step.file);
    if (!original.has(file)) original.set(file, step.how === 'new file' ? null : read(file));
    apply({ ...step, file });
  }
  const touched = [...original.keys()];
  const documents = touched.filter((file) => /\.md$|^\.env\.example$/.test(file));
  const counted = touched.filter((file) => !documents.includes(file));
  console.log(`${what}: ${counted.length} of at most ${maxFiles}`);
  for (const file of counted) console.log(`  ${file}${forcedByTypes.includes(file) ? ' (forced by types)' : ''}`);
  const written = shows === null ? [] : ['docs/openapi.json, by npm run openapi'];
  console.log(`  documentation: ${[...documents, ...written].join(', ')}`);
  if (counted.length > maxFiles) problems.push(`${guide}: ${counted.length} files, and it may take ${maxFiles}.`);

  const faults = compile();
  if (faults !== '') problems.push(`${guide}: its code does not compile:\n${faults}`);
  for (const file of forcedByTypes) {
    const done = read(file);
    writeFileSync(path.join(copy, file), original.get(file) ?? '');
    if (compile() === '') problems.push(`${guide}: the change compiles without ${file} too.`);
    writeFileSync(path.join(copy, file), done);
  }
}

/** The file's name, with the number of the next migration in place of NNNN. */
function numbered(file: string): string {
  if (!file.includes('NNNN')) return file;
  const last = globSync('migrations/*.sql', { cwd: copy }).toSorted().at(-1) ?? '';
  return file.replace('NNNN', String(Number.parseInt(path.basename(last), 10) + 1).padStart(4, '0'));
}

function apply({ file, how, line, under, text }: Place & { readonly text: string }): void {
  if (how === 'new file') {
    mkdirSync(path.dirname(path.join(copy, file)), { recursive: true });
    writeFileSync(path.join(copy, file), `${text}\n`);
    return;
  }
  const lines = read(file).split('\n');
  const at = lineOf(lines, { file, how, line, under });
  lines.splice(how === 'after' ? at + 1 : at, how === 'instead of' ? 1 : 0, ...text.split('\n'));
  writeFileSync(path.join(copy, file), lines.join('\n'));
}

/** The compiler's output; empty if all is well. */
function compile(): string {
  const options = ['--incremental', '--tsBuildInfoFile', path.join(copy, 'tsc.tsbuildinfo')];
  const { stdout, status } = spawnSync('tsc', options, { cwd: copy, encoding: 'utf8' });
  return status === 0 ? '' : stdout || `tsc ended with ${status}`;
}

function runTests(): void {
  const options = ['run', '--project', 'unit', '--project', 'db', ...TESTS];
  const { status } = spawnSync('vitest', options, { cwd: copy, stdio: 'inherit' });
  if (status !== 0) problems.push('With all these changes the tests fail.');
}
