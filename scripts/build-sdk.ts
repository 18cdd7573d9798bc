import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { licences } from './licences.ts';

/*
 * Builds the SDK's `dist` in packages/sdk, or in the folder that is named: a module and its declarations for each
 * source, and the commands in one file.
 */
const ROOT = path.join(import.meta.dirname, '..');
const FOLDER = path.join(ROOT, 'packages/sdk');
/** The folder of a library. */
const LIBRARY = /^node_modules\/(?:@[^/]+\/)?[^/]+/;
const RELATIVE_IMPORT = /(\bfrom '\.[^']*)\.ts'/g;

const dist = path.resolve(process.argv[2] ?? FOLDER, 'dist');
rmSync(dist, { recursive: true, force: true });
const compile = (...options: readonly string[]): unknown =>
  execFileSync('tsc', ['-p', FOLDER, '--outDir', dist, ...options], { stdio: 'inherit' });
// Editors read comments in the declarations.
compile('--removeComments', '--declaration', 'false');
compile('--emitDeclarationOnly');
// The compiler rewrites the names of modules in scripts alone.
for (const file of globSync('*.d.ts', { cwd: dist })) {
  const at = path.join(dist, file);
  writeFileSync(at, readFileSync(at, 'utf8').replace(RELATIVE_IMPORT, "$1.js'"));
}
const commands = await rolldown({
  input: path.join(ROOT, 'src/cli/client/main.ts'),
  platform: 'node',
  // Modules of the service that the commands share with it import more than the commands use.
  treeshake: {
    moduleSideEffects: [
      { test: /client[/\\]main\.ts$/, sideEffects: true },
      { test: /./, sideEffects: false },
    ],
  },
});
const { output } = await commands.write({
  file: path.join(dist, 'commands.js'),
  format: 'esm',
  codeSplitting: false,
  minify: true,
});
const modules = output.flatMap((one) => (one.type === 'chunk' ? one.moduleIds : []));
const libraries = new Set(modules.flatMap((id) => LIBRARY.exec(path.relative(ROOT, id)) ?? []));
writeFileSync(
  path.join(dist, 'THIRD-PARTY-LICENSES.txt'),
  await licences([...libraries].map((one) => `${one}/package.json`)),
);
