import { execFile, spawn } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { makePackage } from '../../scripts/package.ts';
import { textAt } from '../../src/cli/program.fixture.ts';
import { DEADLINE_MS } from '../deadline.ts';
import { eventually, freePort } from '../program.ts';

const run = promisify(execFile);
/** Fetching PostgreSQL's programs from the registry takes most of it. */
const PATIENCE_MS = 8 * DEADLINE_MS;
const NODE_FOLDER = path.dirname(process.execPath);
/** npm, and the Node.js that it runs on, as on the machine of somebody who tries us. */
const SYSTEM_PATH = (process.env['PATH'] ?? '')
  .split(path.delimiter)
  .filter((one) => !one.includes('node_modules') && one !== NODE_FOLDER)
  .join(path.delimiter);

let tarball: string;
/** A folder in which the package was installed without scripts of npm. */
let installed: string;

beforeAll(async () => {
  installed = await mkdtemp(path.join(os.tmpdir(), 'cointill-installed-'));
  tarball = await makePackage(path.join(installed, 'packed'));
  await chmod(installed, 0o755);
  const env = { ...process.env, PATH: `${NODE_FOLDER}:${SYSTEM_PATH}` };
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', tarball], { cwd: installed, env });
  return () => rm(installed, { recursive: true, force: true });
}, PATIENCE_MS);

/** The environment of a person who has a home of their own and knows no setting. */
async function person(nodeFolder: string = NODE_FOLDER) {
  const home = await mkdtemp(path.join(os.tmpdir(), 'cointill-home-'));
  // Root's embedded database runs as another user, who has to get in.
  await chmod(home, 0o755);
  onTestFinished(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));
  const [PORT, SANDBOX_PORT] = [String(await freePort()), String(await freePort())];
  const env = { PATH: `${nodeFolder}:${SYSTEM_PATH}`, HOME: home, PORT, SANDBOX_PORT };
  return { home, env: { ...env, SANDBOX_COMPLETE_AFTER_SECONDS: '1' }, sandbox: `http://127.0.0.1:${SANDBOX_PORT}` };
}

describe('the npm package', () => {
  it('has what runs and nothing else: no sources, no libraries, no scripts of npm', async () => {
    const folder = path.join(installed, 'node_modules/cointill');
    const files = await readdir(folder, { recursive: true });
    expect(files.filter((file) => /\.tsx?$|\.test\.|node_modules/.test(file))).toEqual([]);
    const manifest: Readonly<Record<string, unknown>> = JSON.parse(
      await readFile(path.join(folder, 'package.json'), 'utf8'),
    );
    expect(manifest).toMatchObject({ name: 'cointill', engines: { node: '>=24.7' } });
    expect(Object.keys(manifest)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(scripts|d.*ependencies)$/)]),
    );
    const licences = await readFile(path.join(folder, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    for (const library of ['fastify', 'kysely', '@noble/curves'])
      expect(licences).toMatch(new RegExp(`^${library} \\d`, 'm'));
  });

  it(
    'leads with npx from an empty home to the first completed order, by the lines that the start prints',
    async () => {
      const { home, env, sandbox } = await person();
      // A terminal, because only there a key is shown.
      const service = spawn('script', ['-qfc', 'npx cointill start', '/dev/null'], {
        cwd: installed,
        env,
        detached: true,
      });
      onTestFinished(() => void process.kill(-(service.pid ?? 0), 'SIGKILL'));
      let text = '';
      service.stdout.setEncoding('utf8').on('data', (more: string) => (text += more));
      const banner = await eventually('the banner', async () => (text.includes('Stop with Ctrl-C.') ? text : null));
      expect(banner).toContain(`embedded, in ${home}/.local/share/cointill`);
      expect(banner).toMatch(/^ {2}npx cointill listen --project [0-9a-f-]{36}/m);
      expect(await (await fetch(`${sandbox}/docs/keys`)).text()).toContain('<code>npx cointill project list');
      const [, curl = ''] = /^ +(curl .+?)\r?$/m.exec(banner) ?? [];
      const order: unknown = JSON.parse((await run('sh', ['-c', curl])).stdout);
      const [, key = ''] = /Bearer (\w+)/.exec(curl) ?? [];
      await eventually('the order completes', async () => {
        const answer = await fetch(`${sandbox}/v1/orders/${textAt(order, 'id')}`, {
          headers: { authorization: `Bearer ${key}` },
        });
        return textAt(await answer.json(), 'status') === 'completed' ? true : null;
      });
      // A backup starts a process of its own.
      const { stdout } = await run('npx', ['cointill', 'backup', `${home}/first.backup`, '--json'], {
        cwd: installed,
        env,
      });
      expect(JSON.parse(stdout)).toMatchObject({ rows: { payments: 1 } });
      const health = await run('npx', ['cointill', 'health'], { cwd: installed, env });
      expect(health.stdout).toBe(`Ready: http://127.0.0.1:${env.PORT}/readyz\n`);
    },
    PATIENCE_MS,
  );

  it('says in one line, with a command that works, that Node.js is too old', async () => {
    const { env, home } = await person('/nowhere');
    const older = path.join(home, 'bin');
    await run('sh', [
      '-c',
      `mkdir ${older} && printf '#!/bin/sh\\necho 22.12.0\\n' >${older}/node && chmod +x ${older}/node`,
    ]);
    const started = run('node_modules/.bin/cointill', ['start'], {
      cwd: installed,
      env: { ...env, PATH: `${older}:/usr/bin:/bin` },
    });
    await expect(started).rejects.toMatchObject({
      code: 1,
      stderr: `cointill: Node.js 24.7 or newer is needed, and here is 22.12.0 (${older}/node). Run 'npx -p node@24 -p cointill cointill start', which brings it along, or install it.\n`,
    });
  });

  it('says what is missing where optional packages were left out', async () => {
    const { env } = await person();
    const elsewhere = await mkdtemp(path.join(os.tmpdir(), 'cointill-package-'));
    onTestFinished(() => rm(elsewhere, { recursive: true, force: true }));
    const place = { cwd: elsewhere, env: { ...process.env, PATH: env.PATH } };
    await run('npm', ['install', '--omit=optional', '--no-audit', '--no-fund', tarball], place);
    await expect(run('npx', ['cointill', 'start'], { cwd: elsewhere, env })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/not installed\. Install Cointill again without --omit=optional.*DATABASE_URL/),
    });
  });
});
