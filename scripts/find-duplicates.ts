import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { EXCEPTIONS } from './duplicate-exceptions.ts';
import { duplicatesIn, type Duplicate } from './duplicates.ts';

/**
 * Prints every run of lines that occurs twice in the TypeScript of this repository. Fails for those that
 * `scripts/duplicate-exceptions.ts` does not explain, and for explanations that are no longer needed.
 */
const ROOT = path.join(import.meta.dirname, '..');
/** Other folders contain files that tools generate or install. */
const FILES = globSync('{src,web,test,bench,scripts,packages}/**/*.{ts,tsx}', {
  cwd: ROOT,
  exclude: ['**/node_modules/**', '**/dist/**', '**/*.generated.ts'],
});

function isExplained({ places }: Duplicate): boolean {
  const files = new Set(places.map(({ file }) => file));
  return EXCEPTIONS.some((exception) => [...files].every((file) => exception.files.includes(file)));
}

const found = duplicatesIn(
  FILES.toSorted().map((file) => ({ file, text: readFileSync(path.join(ROOT, file), 'utf8') })),
);
const unexplained = found.filter((one) => !isExplained(one));
for (const { places } of unexplained) {
  console.error(places.map(({ file, first, last }) => `${file}:${first}-${last}`).join('\n  = '));
}
console.log(`${unexplained.length} duplicates, and ${found.length - unexplained.length} with a reason.`);

const needless = EXCEPTIONS.filter(
  ({ files }) => !found.some(({ places }) => places.every(({ file }) => files.includes(file))),
);
for (const { files } of needless)
  console.error(`${files.join(' and ')} share no lines any more: remove the exception.`);
if (unexplained.length > 0 || needless.length > 0) process.exit(1);
