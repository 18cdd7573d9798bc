import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { calledAs, wrapperName, COMMAND_GROUPS, publicName, withProgram } from './called-as.ts';

describe('the commands in a message', () => {
  it('are written as the program is called', () => {
    const message = 'List them with: cointill project list. Then (cointill wallet set --project ID).';
    expect(withProgram(message, './bin/cointill')).toBe(
      'List them with: ./bin/cointill project list. Then (./bin/cointill wallet set --project ID).',
    );
    expect(withProgram('npx cointill start, or cointill start', 'npx cointill')).toBe(
      'npx cointill start, or npx cointill start',
    );
    for (const group of COMMAND_GROUPS) expect(withProgram(`cointill ${group}`, '$&')).toBe(`$& ${group}`);
  });

  it('are left alone where they say already how it is called, and so is everything else', () => {
    for (const message of [
      './bin/cointill project list',
      '/opt/cointill/bin/cointill key list',
      'useradd --system cointill',
      'the role cointill of the database cointill',
      'DATA_DIR /var/lib/cointill starts empty',
      'cointill projects',
    ]) {
      expect(withProgram(message, 'X')).toBe(message);
    }
  });
});

describe('the program', () => {
  it('is named as it was called, so that its commands can be copied', () => {
    expect(calledAs({ COINTILL_CALLED_AS: './bin/cointill' }, '/srv')).toBe('./bin/cointill');
    expect(calledAs({ COINTILL_CALLED_AS: '../cointill/bin/cointill' }, '/srv')).toBe('../cointill/bin/cointill');
    expect(calledAs({ COINTILL_CALLED_AS: '/opt/my till/bin/cointill' }, '/')).toBe("'/opt/my till/bin/cointill'");
    const typed = 'docker compose -f deploy/compose.yml exec cointill cointill';
    expect([calledAs({ COINTILL_CALLED_AS: typed }, '/'), wrapperName({ COINTILL_CALLED_AS: typed })]).toEqual([
      typed,
      typed,
    ]);
    expect(calledAs({}, '/')).toMatch(/^\/.*\/bin\/cointill$/);
  });

  it('is named by its whole path after npm --prefix, which starts it in another folder', () => {
    const given = { COINTILL_CALLED_AS: './bin/cointill' };
    expect(calledAs({ ...given, INIT_CWD: '/srv/till' }, '/srv/till')).toBe('./bin/cointill');
    expect(calledAs({ ...given, INIT_CWD: '/root' }, '/srv/till')).toBe('/srv/till/bin/cointill');
  });

  it('is named alone where the PATH leads to it, and to no other of its name', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-path-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const [first, second] = [path.join(folder, 'first'), path.join(folder, 'second')];
    for (const one of [first, second]) {
      await mkdir(one);
      await writeFile(path.join(one, 'cointill'), '');
      await chmod(path.join(one, 'cointill'), 0o755);
    }
    const PATH = `/nowhere:${first}:${second}`;
    expect(calledAs({ PATH, COINTILL_CALLED_AS: path.join(first, 'cointill') }, '/')).toBe('cointill');
    expect(calledAs({ PATH, COINTILL_CALLED_AS: path.join(second, 'cointill') }, '/')).toBe(`${second}/cointill`);
    // A wrapper that runs it as another user gives its own name.
    expect(calledAs({ PATH, COINTILL_CALLED_AS: 'till' }, '/')).toBe('till');
  });

  it('is named with npx where npx ran it, and with what npx was asked for', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-npx-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const fetched = path.join(folder, '_npx/0a1b');
    await mkdir(fetched, { recursive: true });
    const named = async (packages: readonly string[]) => {
      await writeFile(path.join(fetched, 'package.json'), JSON.stringify({ _npx: { packages } }));
      const called = path.join(fetched, 'node_modules/.bin/cointill');
      return calledAs({ npm_command: 'exec', COINTILL_CALLED_AS: called, PATH: path.dirname(called) }, '/');
    };
    expect(await named(['cointill'])).toBe('npx cointill');
    expect(await named(['cointill@1.2.3'])).toBe('npx cointill@1.2.3');
    expect(await named(['/my files/cointill-1.2.3.tgz'])).toBe("npx -p '/my files/cointill-1.2.3.tgz' cointill");
    expect(await named(['node@24', 'cointill'])).toBe('npx -p node@24 -p cointill cointill');
    const installed = '/srv/shop/node_modules/.bin/cointill';
    expect(calledAs({ npm_command: 'exec', COINTILL_CALLED_AS: installed }, '/srv/shop')).toBe('npx cointill');
    expect(calledAs({ COINTILL_CALLED_AS: installed }, '/srv/shop')).toBe(installed);
    expect(publicName("npx -p '/my files/cointill-1.2.3.tgz' cointill")).toBe('npx cointill');
  });

  it('is named to clients without the folder that it is installed in', () => {
    expect(publicName('./bin/cointill')).toBe('./bin/cointill');
    expect(publicName('cointill')).toBe('cointill');
    expect(publicName('/opt/cointill/bin/cointill')).toBe('cointill');
    expect(publicName("'/opt/my till/bin/cointill'")).toBe('cointill');
  });
});
