import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/**
 * Completes package-lock.json: npm leaves out optional packages of other platforms that it could not look up when the
 * lock was written, and `npm ci` then refuses the whole lock. Each package gets its checksum, where the registry has
 * the package. With `--check` it only says whether a package is missing, or has no checksum without being a tool of
 * another platform.
 */
interface Entry {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Lock {
  packages: Record<string, Entry & Record<string, unknown>>;
}

const FILE = path.join(import.meta.dirname, '../package-lock.json');
const SYSTEMS = ['android', 'openharmony', 'darwin', 'freebsd', 'netbsd', 'openbsd', 'sunos', 'aix', 'win32', 'linux'];
/** The processors in package names, and Node.js's names for them; longer names first. */
const PROCESSORS = [
  ['arm64', 'arm64'],
  ['amd64', 'x64'],
  ['x64', 'x64'],
  ['ia32', 'ia32'],
  ['ppc64', 'ppc64'],
  ['riscv64', 'riscv64'],
  ['s390x', 's390x'],
  ['loong64', 'loong64'],
  ['wasm32', 'wasm32'],
  ['arm', 'arm'],
] as const;

const lock = JSON.parse(await readFile(FILE, 'utf8')) as Lock;
const missing = Object.entries(lock.packages).flatMap(([parent, entry]) =>
  Object.entries(entry.optionalDependencies ?? {})
    .filter(([name, range]) => !isLocked(parent, name) && /^\d+\.\d+\.\d+/.test(range))
    .map(([name, version]) => ({ name, version, dev: entry.dev === true })),
);

const unsealed = Object.entries(lock.packages).filter(
  ([folder, { integrity, link }]) => isInstalled(folder) && link !== true && !/^sha(?:384|512)-/.test(integrity ?? ''),
);

if (process.argv.includes('--check')) {
  const wrong = unsealed.filter(([, { dev, optional }]) => dev !== true || optional !== true);
  if (wrong.length > 0) {
    console.error('package-lock.json has packages without a SHA-512 checksum, which npm ci would install unread:');
    for (const [folder] of wrong) console.error(`  ${folder}`);
    console.error('Run: node scripts/complete-lockfile.ts');
    process.exit(1);
  }
  if (missing.length > 0) {
    console.error(`package-lock.json lacks ${missing.length} packages of other platforms, so npm ci refuses it.`);
    console.error('Run: node scripts/complete-lockfile.ts');
    process.exit(1);
  }
} else {
  for (const { name, version, dev } of missing) lock.packages[`node_modules/${name}`] = entryOf(name, version, dev);
  for (const [folder, entry] of Object.entries(lock.packages)) {
    if (!isInstalled(folder) || entry.link === true || entry.integrity !== undefined) continue;
    const integrity = await checksumOf(folder.slice(folder.lastIndexOf('node_modules/') + 13), entry.version ?? '');
    if (integrity !== null) lock.packages[folder] = { ...entry, integrity };
  }
  const sorted = Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1));
  await writeFile(FILE, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`);
  console.log(`Added ${missing.length} packages.`);
}

/** Whether it comes from the registry: this repository's own packages lie beside `node_modules`. */
function isInstalled(folder: string): boolean {
  return folder.includes('node_modules/');
}

/** Whether a package is locked where its dependant would find it: beside it, or in any folder above. */
function isLocked(parent: string, name: string): boolean {
  for (let folder = parent; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    if (lock.packages[folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`] !== undefined)
      return true;
    if (!folder.includes('/node_modules/')) return lock.packages[`node_modules/${name}`] !== undefined;
  }
}

/** Null: the registry does not have the package. */
async function checksumOf(name: string, version: string): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)('npm', ['view', `${name}@${version}`, 'dist.integrity']);
    return stdout.trim() || null;
  } catch {
    return null;
  }
}

function entryOf(name: string, version: string, dev: boolean): Entry & Record<string, unknown> {
  const system = SYSTEMS.find((candidate) => name.includes(candidate));
  const processor = PROCESSORS.find(([written]) => name.includes(written))?.[1];
  const libc = name.includes('musl') ? 'musl' : name.endsWith('-gnu') ? 'glibc' : undefined;
  return {
    version,
    ...(processor === undefined ? {} : { cpu: [processor] }),
    ...(dev ? { dev } : {}),
    ...(libc === undefined ? {} : { libc: [libc] }),
    optional: true,
    ...(system === undefined ? {} : { os: [system] }),
  };
}
