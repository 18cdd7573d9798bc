import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { rolldown, type OutputChunk, type Plugin } from 'rolldown';
import { builtProgram, manifestOf, PROGRAM_FOLDER } from '../src/config/built.ts';
import { putInPlace } from './put-in-place.ts';

const ROOT = path.join(import.meta.dirname, '..');
const SOURCES = path.join(ROOT, 'src');
const ENTRY = path.join(SOURCES, 'cli/cointill.ts');
/** What `pg` and `debug` only try to load: nobody has the first here, and production not the second. */
const TRIED = ['pg-native', 'supports-color'];
const LIBRARY = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/;

/**
 * Builds the program with its libraries into few files, which start in half the time: resolving and reading several
 * hundred modules is most of what a command costs. The folder appears as a whole. Throws when the sources do not
 * compile.
 */
export async function buildProgram(): Promise<void> {
  const folder = path.join(ROOT, PROGRAM_FOLDER);
  const fresh = path.join(ROOT, `dist/.program-${randomUUID()}`);
  const startedAt = Date.now();
  try {
    const bundle = await rolldown({
      input: ENTRY,
      platform: 'node',
      external: TRIED,
      plugins: [keepFolders],
      logLevel: 'silent',
    });
    const { output } = await bundle.write({ dir: fresh, format: 'esm' });
    await bundle.close();
    const manifest = manifestOf(ROOT, inputsOf(output.filter((one) => one.type === 'chunk')));
    // What was changed after it may have been read is not what was built.
    if (manifest.changedAt >= startedAt && manifest.changedAt <= Date.now()) return await buildProgram();
    await writeFile(path.join(fresh, manifest.name), manifest.text);
    // Spares Node.js the way up to the checkout's.
    await writeFile(path.join(fresh, 'package.json'), '{"type":"module"}\n');
    await putInPlace(fresh, folder);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** Modules find files of the checkout from where they are written, not from where they are built to. */
const keepFolders: Plugin = {
  name: 'keep-folders',
  transform(code, id) {
    if (!id.startsWith(SOURCES)) return null;
    const folder = path.relative(path.join(ROOT, PROGRAM_FOLDER), path.dirname(id));
    return code.replaceAll('import.meta.dirname', `(import.meta.dirname + ${JSON.stringify(`/${folder}`)})`);
  },
};

/**
 * Every source, and each library's `package.json`, which `npm` writes anew with it. Throws where a library is one that
 * production leaves out: there the program would do without.
 */
function inputsOf(chunks: readonly OutputChunk[]): readonly string[] {
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds).filter((id) => path.isAbsolute(id));
  const files = modules.map((id) => {
    const library = LIBRARY.exec(id)?.[0];
    return path.relative(ROOT, library === undefined ? id : path.join(library, 'package.json'));
  });
  const found = [...new Set([...files, 'scripts/build-program.ts', 'package.json'])].toSorted();
  const lock: { readonly packages: Readonly<Record<string, { readonly dev?: boolean }>> } = JSON.parse(
    readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8'),
  );
  const forDevelopment = found.filter((file) => lock.packages[path.dirname(file)]?.dev === true);
  if (forDevelopment.length > 0)
    throw new Error(`Production leaves out what was built in: ${forDevelopment.join(', ')}.`);
  return found;
}

if (import.meta.main && !(process.argv.includes('--if-changed') && builtProgram(ROOT) !== null)) await buildProgram();
