import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Builds packages/sdk/dist: a module and its declarations for each source. */
const FOLDER = path.join(import.meta.dirname, '../packages/sdk');
const RELATIVE_IMPORT = /(\bfrom '\.[^']*)\.ts'/g;

rmSync(path.join(FOLDER, 'dist'), { recursive: true, force: true });
execFileSync('tsc', ['-p', FOLDER], { stdio: 'inherit' });
// The compiler rewrites the names of modules in scripts alone.
for (const file of globSync('dist/*.d.ts', { cwd: FOLDER })) {
  const at = path.join(FOLDER, file);
  writeFileSync(at, readFileSync(at, 'utf8').replace(RELATIVE_IMPORT, "$1.js'"));
}
