import { execFile, execFileSync, spawn } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { makeImage } from '../../scripts/image.ts';
import { textAt } from '../../src/cli/program.fixture.ts';
import { DEADLINE_MS } from '../deadline.ts';
import { eventually, freePort } from '../program.ts';

const run = promisify(execFile);
const PATIENCE_MS = 8 * DEADLINE_MS;

interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
}
interface Unpacked {
  /** The bytes of the layer, compressed. */
  readonly bytes: number;
  readonly tree: string;
  readonly config: ImageConfig;
}

/** Mounts take a namespace of one's own, which root may make, but not in every container. */
const mayMount = (() => {
  try {
    execFileSync('unshare', ['--mount', '--fork', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

let place: string;
let whole: Unpacked;
let bare: Unpacked;

beforeAll(async () => {
  place = await mkdtemp(path.join(os.tmpdir(), 'cointill-image-'));
  await chmod(place, 0o755);
  whole = await unpacked('whole', true);
  bare = await unpacked('bare', false);
  return () => rm(place, { recursive: true, force: true });
}, PATIENCE_MS);

/** Makes an image and unpacks it as a container engine does: by the index, the manifest and the layer. */
async function unpacked(name: string, withDatabase: boolean): Promise<Unpacked> {
  const layout = path.join(place, name);
  await makeImage(layout, withDatabase);
  const blob = (digest: string): string => path.join(layout, 'blobs', digest.replace(':', '/'));
  const read = async <Content>(file: string): Promise<Content> => JSON.parse(await readFile(file, 'utf8'));
  type Descriptor = { readonly digest: string; readonly size: number };
  const index = await read<{ readonly manifests: readonly [Descriptor] }>(path.join(layout, 'index.json'));
  const manifest = await read<{ readonly config: Descriptor; readonly layers: readonly [Descriptor] }>(
    blob(index.manifests[0].digest),
  );
  const { config } = await read<{ readonly config: ImageConfig }>(blob(manifest.config.digest));
  const tree = `${layout}-tree`;
  await mkdir(tree);
  await run('tar', ['-xzpf', blob(manifest.layers[0].digest), '-C', tree]);
  // Folders on which an engine mounts.
  for (const folder of ['proc', 'dev']) await mkdir(path.join(tree, folder));
  return { bytes: (await stat(blob(manifest.layers[0].digest))).size, tree, config };
}

/** Runs the image as an engine does that gives it a read-only root, /data and /tmp. */
async function container({ tree, config }: Unpacked, env: Readonly<Record<string, string>>) {
  const [user = '', group = ''] = config.User.split(':');
  const data = await mkdtemp(path.join(place, 'data-'));
  await mkdir(path.join(data, 'backups'));
  for (const folder of [data, path.join(data, 'backups')]) await chown(folder, Number(user), Number(group));
  // chroot is not on the image's PATH.
  const line = `mount --bind "$TREE" "$TREE" && mount -o remount,bind,ro,nosuid "$TREE" &&
    mount -t tmpfs -o mode=1777 tmpfs "$TREE/tmp" && mount --bind "$DATA" "$TREE/data" &&
    mount --bind /proc "$TREE/proc" && mount --rbind /dev "$TREE/dev" &&
    exec /usr/sbin/chroot --userspec=${user}:${group} "$TREE" ${config.Entrypoint.join(' ')} "$@"`;
  const variables = Object.fromEntries(
    [...config.Env, ...Object.entries(env).map((pair) => pair.join('='))].map((one) => {
      const at = one.indexOf('=');
      return [one.slice(0, at), one.slice(at + 1)] as const;
    }),
  );
  const start = (args: readonly string[], more: Readonly<Record<string, string>> = {}, own: readonly string[] = []) =>
    spawn('/usr/bin/unshare', ['--mount', ...own, '/bin/sh', '-c', line, 'sh', ...args], {
      env: { ...variables, ...more, TREE: tree, DATA: data },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
  const command = async (...args: readonly string[]) => {
    const child = start(args);
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    return { code, stdout, stderr };
  };
  return { data, start, command };
}

/** Ends a container with everything in it. */
function endGroup(pid: number | undefined): void {
  try {
    process.kill(-(pid ?? NaN), 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

describe('the image', () => {
  it('is small, belongs to root but for /data, and has no file that gives rights', async () => {
    expect(whole.bytes).toBeLessThanOrEqual(80_000_000);
    expect(bare.bytes).toBeLessThanOrEqual(58_000_000);
    for (const { tree } of [whole, bare]) {
      const { stdout: special } = await run('find', [tree, '-perm', '/6000']);
      const { stdout: writable } = await run('find', [
        tree,
        '(',
        '-perm',
        '/0022',
        '-o',
        '!',
        '-uid',
        '0',
        ')',
        '-not',
        '-type',
        'l',
        '-printf',
        '%P\n',
      ]);
      expect([special, writable.trim().split('\n').toSorted()]).toEqual(['', ['data', 'data/backups', 'tmp']]);
    }
  });

  it('has no package manager, and a shell only where initdb needs one', async () => {
    const programs = async ({ tree }: Unpacked) => (await readdir(path.join(tree, 'usr/bin'))).toSorted();
    expect(await programs(whole)).toEqual(['cointill', 'dash', 'node', 'sh']);
    expect(await programs(bare)).toEqual(['cointill', 'node']);
  });

  it.runIf(mayMount)(
    'runs read-only as its own user: first order, health, backup, and an end in time that leaves no database behind',
    async () => {
      const [PORT, SANDBOX_PORT] = [String(await freePort()), String(await freePort())];
      const env = { PORT, SANDBOX_PORT, SANDBOX_COMPLETE_AFTER_SECONDS: '1' };
      const { data, start, command } = await container(whole, env);
      const service = start(whole.config.Cmd);
      onTestFinished(() => void service.kill('SIGKILL'));
      let text = '';
      service.stdout.setEncoding('utf8').on('data', (more: string) => (text += more));
      const ended = new Promise<number | null>((resolve) => service.once('close', resolve));
      await eventually('it runs', async () => (text.includes('Stop with Ctrl-C.') ? true : null));
      const [, curl = '', key = ''] = /^ +(curl .+Bearer (\w+).+)$/m.exec(text) ?? [];
      // Commands are named as they are typed in a container.
      expect(text).toMatch(/^ {2}cointill listen --project /m);
      const order: unknown = JSON.parse((await run('sh', ['-c', curl])).stdout);
      const sandbox = `http://127.0.0.1:${SANDBOX_PORT}`;
      const headers = { authorization: `Bearer ${key}` };
      await eventually('the order completes', async () => {
        const answer = await fetch(`${sandbox}/v1/orders/${textAt(order, 'id')}`, { headers });
        return textAt(await answer.json(), 'status') === 'completed' ? true : null;
      });
      // In another container, whose process ids mean nothing here.
      const ports = { PORT: String(await freePort()), SANDBOX_PORT: String(await freePort()) };
      const second = start(['start'], ports, ['--pid', '--ipc', '--fork', '--kill-child', '--mount-proc']);
      let refusal = '';
      second.stderr.setEncoding('utf8').on('data', (more: string) => (refusal += more));
      expect(await new Promise((resolve) => second.once('close', resolve))).toBe(1);
      expect(refusal).toContain('Only one container may use this folder at a time.');
      expect(await command('health')).toMatchObject({ code: 0 });
      expect(await command('backup', '/data/backups/')).toMatchObject({ code: 0 });
      expect((await readdir(path.join(data, 'backups'))).length).toBe(1);
      const postmaster = Number((await readFile(path.join(data, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0]);
      service.kill('SIGTERM');
      expect(await ended).toBe(0);
      expect(() => process.kill(postmaster, 0)).toThrow('ESRCH');
      expect(await command('health')).toMatchObject({ code: 1, stderr: expect.stringContaining('does not respond') });
    },
    PATIENCE_MS,
  );

  it.runIf(mayMount)(
    'of two containers that start on one empty folder at the same moment, one makes the database and the other refuses',
    async () => {
      const { start } = await container(whole, {});
      const own = ['--pid', '--ipc', '--fork', '--kill-child', '--mount-proc'];
      const outcomes = [1, 2].map(async () => {
        const ports = { PORT: String(await freePort()), SANDBOX_PORT: String(await freePort()) };
        const service = start(['start'], ports, own);
        // Changing the user loses the signal for the end of the parent.
        onTestFinished(() => endGroup(service.pid));
        let text = '';
        service.stdout.setEncoding('utf8').on('data', (more: string) => (text += more));
        service.stderr.setEncoding('utf8').on('data', (more: string) => (text += more));
        let hasEnded = false;
        service.once('close', () => (hasEnded = true));
        return eventually('it runs or refuses', async () =>
          text.includes('Stop with Ctrl-C.') ? 'runs' : hasEnded ? text.trim() : null,
        );
      });
      expect((await Promise.all(outcomes)).toSorted()).toEqual([
        expect.stringMatching(/^[^\n]*Only one container may use this folder at a time\.[^\n]*$/),
        'runs',
      ]);
    },
    PATIENCE_MS,
  );

  it.runIf(mayMount)('without the database says which setting it needs', async () => {
    const { command } = await container(bare, {});
    expect(await command('start')).toMatchObject({ code: 1, stderr: expect.stringContaining('DATABASE_URL') });
  });
});
