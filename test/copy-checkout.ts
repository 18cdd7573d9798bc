import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '..');

/** Copies the checkout, including uncommitted files and its packages, into a new folder. */
export function copyCheckout(): string {
  const copy = mkdtempSync(path.join(os.tmpdir(), 'cointill-copy-'));
  const list = (...options: readonly string[]): readonly string[] =>
    execFileSync('git', ['ls-files', '-z', ...options], { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 24 }).split(
      '\0',
    );
  const gone = new Set(list('--deleted'));
  for (const file of list('--cached', '--others', '--exclude-standard', '--deduplicate')) {
    if (file !== '' && !gone.has(file)) cpSync(path.join(ROOT, file), path.join(copy, file));
  }
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
  return copy;
}
