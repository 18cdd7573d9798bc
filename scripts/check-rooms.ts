import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { importFault } from './rooms.ts';

/**
 * Enforces the import rules of `scripts/rooms.ts`. Linters only know deny lists, where a new room would be
 * unrestricted.
 */
const ROOT = path.join(import.meta.dirname, '..');
const FOR_TESTS = /\.(?:test|fixture)\.ts$/;
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*'(?<target>[\w@.][^'\n]*)'/g;
const files = globSync('src/**/*.ts', { cwd: ROOT }).filter((file) => !FOR_TESTS.test(file));
const faults = files.flatMap((file) => {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  const targets = [...text.matchAll(IMPORT)].map(({ groups }) => groups?.['target'] ?? '');
  const found = [...targets, './'].map((target) => importFault(file, target));
  return [...new Set(found)].filter((fault) => fault !== null).map((fault) => `${file} ${fault}`);
});
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
