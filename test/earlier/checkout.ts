import { execFile } from 'node:child_process';
import { chmod, cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { knownMigrations, MIGRATIONS_FOLDER } from '../../src/store/migration-files.ts';

const ROOT = path.join(import.meta.dirname, '../..');

/** A checkout of the last release, which the file `release` names. */
export interface EarlierCheckout {
  readonly root: string;
  /** The migrations that this program has and the release lacks. */
  readonly newer: readonly string[];
  /** Copies the checkout, with this program's migrations in place of its own, and returns the copy's folder. */
  copyWithOurMigrations(): Promise<string>;
  remove(): Promise<void>;
}

/**
 * Checks out the last release, with its dependencies and the build of its pages. A text says why that is impossible:
 * this is no clone, or a shallow one without that commit.
 */
export async function checkOutEarlier(): Promise<EarlierCheckout | string> {
  const release = await nameOfRelease();
  const missing = await whyMissing(release);
  if (missing !== null) return missing;
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-earlier-'));
  // Root's embedded database runs as another user, who has to get in.
  await chmod(folder, 0o755);
  const root = path.join(folder, 'release');
  await run('git', ['archive', '--prefix=release/', `--output=${folder}/release.tar`, release], ROOT);
  await run('tar', ['-xf', 'release.tar'], folder);
  await installDependencies(root);
  // Built before several processes start at once, each of which would build.
  await run(process.execPath, ['scripts/build-web.ts'], root);
  const own = new Set(await knownMigrations(path.join(root, 'migrations')));
  return {
    root,
    newer: (await knownMigrations()).filter((name) => !own.has(name)),
    copyWithOurMigrations: async () => {
      const copy = path.join(folder, 'on-our-schema');
      await cp(root, copy, { recursive: true, verbatimSymlinks: true });
      await rm(path.join(copy, 'migrations'), { recursive: true });
      await cp(MIGRATIONS_FOLDER, path.join(copy, 'migrations'), { recursive: true });
      return copy;
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function nameOfRelease(): Promise<string> {
  const lines = (await readFile(path.join(import.meta.dirname, 'release'), 'utf8')).split('\n');
  const [name, ...others] = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
  if (name === undefined || others.length > 0) throw new Error('test/earlier/release must name one tag or commit.');
  return name;
}

async function whyMissing(release: string): Promise<string | null> {
  try {
    await run('git', ['cat-file', '-e', `${release}^{commit}`], ROOT);
    return null;
  } catch (error) {
    const { stderr }: { readonly stderr?: unknown } = Object(error);
    return `This clone lacks ${release}, the last release. \`git fetch --unshallow --tags\` brings it. (${String(stderr ?? error).trim()})`;
  }
}

/** Takes this checkout's packages if the release had the same; its version of ourselves may differ. */
async function installDependencies(root: string): Promise<void> {
  if ((await packagesOf(root)) === (await packagesOf(ROOT))) {
    await symlink(path.join(ROOT, 'node_modules'), path.join(root, 'node_modules'));
    return;
  }
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], root);
}

async function packagesOf(root: string): Promise<string> {
  const lock: { readonly packages: object } = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8'));
  return JSON.stringify({ ...lock.packages, '': null });
}

async function run(program: string, args: readonly string[], cwd: string): Promise<void> {
  await promisify(execFile)(program, args, { cwd, maxBuffer: 2 ** 26 });
}
