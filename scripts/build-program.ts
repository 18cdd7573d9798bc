import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { rolldown, type OutputChunk, type Plugin } from 'rolldown';
import { builtProgram, manifestOf, PROGRAM_FOLDER } from '../src/config/built.ts';
import { putInPlace } from './put-in-place.ts';

const ROOT = path.join(import.meta.dirname, '..');
const SOURCES = path.join(ROOT, 'src');
/** The program, and what starts it where there are no sources. */
const ENTRIES = ['cli/cointill.ts', 'cli/launch.ts'].map((file) => path.join(SOURCES, file));
/** Modules that `pg` and `debug` only try to load: the first is never installed, the second not in production. */
const TRIED = ['pg-native', 'supports-color'];
const LIBRARY = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/;

/**
 * Bundles the program with its libraries into a few files, which start in half the time, because a command spends
 * most of its time on resolving and reading several hundred modules. The folder is replaced as a whole. Throws if the
 * sources do not compile.
 */
export async function buildProgram(): Promise<void> {
  const folder = path.join(ROOT, PROGRAM_FOLDER);
  const fresh = path.join(ROOT, `dist/.program-${randomUUID()}`);
  const startedAt = Date.now();
  try {
    const bundle = await rolldown({
      input: ENTRIES,
      platform: 'node',
      external: TRIED,
      plugins: [keepFolders, buildThreads, nativeBrotli],
      logLevel: 'silent',
    });
    const { output } = await bundle.write({ dir: fresh, format: 'esm', comments: false });
    await bundle.close();
    const manifest = manifestOf(ROOT, inputsOf(output.filter((one) => one.type === 'chunk')));
    // A source that changed after it may have been read makes the build outdated.
    if (manifest.changedAt >= startedAt && manifest.changedAt <= Date.now()) return await buildProgram();
    await writeFile(path.join(fresh, manifest.name), manifest.text);
    // With a package.json here Node.js need not search upward to the checkout's.
    await writeFile(path.join(fresh, 'package.json'), '{"type":"module"}\n');
    await putInPlace(fresh, folder);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** Modules find files of the checkout relative to their source, not to the build. */
const keepFolders: Plugin = {
  name: 'keep-folders',
  transform(code, id) {
    if (!id.startsWith(SOURCES)) return null;
    const folder = path.relative(path.join(ROOT, PROGRAM_FOLDER), path.dirname(id));
    return code.replaceAll('import.meta.dirname', `(import.meta.dirname + ${JSON.stringify(`/${folder}`)})`);
  },
};

/** The program of a thread is built into a file of its own. */
const buildThreads: Plugin = {
  name: 'build-threads',
  transform(code, id) {
    if (!id.startsWith(SOURCES)) return null;
    return code.replaceAll(/new URL\('(\.\/[a-z-]+\.ts)', import\.meta\.url\)/g, (_, file: string) => {
      const reference = this.emitFile({ type: 'chunk', id: path.join(path.dirname(id), file) });
      return `new URL(import.meta.ROLLUP_FILE_URL_${reference})`;
    });
  },
};

/** Node.js decompresses in place of the copy of Brotli that `fontkit` brings along, a sixth of the whole program. */
const nativeBrotli: Plugin = {
  name: 'native-brotli',
  resolveId: (source) => (source === 'brotli/decompress.js' ? '\0brotli' : null),
  load: (id) =>
    id === '\0brotli'
      ? "import { brotliDecompressSync } from 'node:zlib';\nexport default brotliDecompressSync;\n"
      : null,
};

/**
 * Every source, and each library's `package.json`, which `npm` rewrites with the library. Throws if a library is not
 * installed in production.
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
