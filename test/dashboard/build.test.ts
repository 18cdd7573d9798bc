import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { beforeAll, afterAll, describe, expect, it } from 'vitest';
import { DEADLINE_MS } from '../deadline.ts';
import { buildDashboard, type DashboardManifest } from '../../scripts/build-dashboard.ts';

const KIB = 1_024;
const SOURCES = path.join(import.meta.dirname, '../../web/dashboard');

describe('the build of the dashboard', () => {
  let folder: string;
  let manifest: DashboardManifest;
  beforeAll(async () => {
    folder = path.join(await mkdtemp(path.join(os.tmpdir(), 'cointill-dashboard-')), 'dashboard');
    manifest = await buildDashboard(folder);
  }, DEADLINE_MS);
  afterAll(() => rm(path.dirname(folder), { recursive: true, force: true }));

  const compressed = async (names: readonly string[]): Promise<number> => {
    const sizes = await Promise.all(names.map((name) => stat(path.join(folder, 'assets', `${name}.br`))));
    return sizes.reduce((sum, { size }) => sum + size, 0);
  };

  it('sends at most 160 KiB of compressed script for Home, its menus included, and 15 KiB of styles', async () => {
    const { first, home, popups, styles } = manifest;
    expect(await compressed([...new Set([first, ...home, ...popups])])).toBeLessThanOrEqual(160 * KIB);
    expect(await compressed(styles)).toBeLessThanOrEqual(15 * KIB);
  });

  it('adds at most 25 KiB for any further page', async () => {
    const { home, popups, scripts } = manifest;
    const further = scripts.filter((name) => !home.includes(name) && !popups.includes(name));
    const sizes = await Promise.all(further.map(async (name) => [name, await compressed([name])] as const));
    expect(sizes.filter(([, size]) => size > 25 * KIB)).toEqual([]);
  });

  it('names every file that Home needs in the document, and inlines nothing', async () => {
    const document = await readFile(path.join(folder, 'index.html'), 'utf8');
    for (const name of [manifest.first, ...manifest.home, ...manifest.styles])
      expect(document).toContain(`/dashboard/assets/${name}"`);
    expect(document).not.toMatch(/<style|<script(?![^>]* src=)|\sstyle=|\son\w+=/);
  });

  it('uses the production build of React, whatever NODE_ENV says', async () => {
    const texts = await Promise.all(
      manifest.scripts.map((name) => readFile(path.join(folder, 'assets', name), 'utf8')),
    );
    expect(texts.join('')).not.toMatch(/react[-_]stack[-_]bottom[-_]frame/);
    expect(texts.join('')).not.toContain('jsxDEV');
  });

  it('is not repeated while its sources are the same', async () => {
    const before = await stat(path.join(folder, 'manifest.json'));
    expect(await buildDashboard(folder)).toEqual(manifest);
    expect((await stat(path.join(folder, 'manifest.json'))).mtimeMs).toBe(before.mtimeMs);
  });
});

describe('the sources of the dashboard', () => {
  const files = async (suffix: string): Promise<readonly string[]> => {
    const entries = await readdir(SOURCES, { recursive: true });
    return entries.filter((name) => name.endsWith(suffix)).map((name) => path.join(SOURCES, name));
  };

  it('use no class that their style sheet lacks', async () => {
    const missing: string[] = [];
    for (const file of await files('.tsx')) {
      const source = await readFile(file, 'utf8');
      for (const [, name = '', from = ''] of source.matchAll(/import (\w+) from '(.+\.module\.css)'/g)) {
        const sheet = await readFile(path.join(path.dirname(file), from), 'utf8');
        const classes = new Set([...sheet.matchAll(/\.([a-zA-Z][\w-]*)/g)].map(([, one]) => one));
        const used = [...source.replaceAll(/from '.+'/g, '').matchAll(new RegExp(`\\b${name}\\.(\\w+)`, 'g'))].map(
          ([, one = '']) => one,
        );
        missing.push(...used.filter((one) => !classes.has(one)).map((one) => `${path.basename(file)}: ${one}`));
      }
    }
    expect(missing).toEqual([]);
  });

  it('set no inline styles, which the page’s policy refuses', async () => {
    const found = [];
    for (const file of await files('.tsx')) if (/\sstyle=\{/.test(await readFile(file, 'utf8'))) found.push(file);
    expect(found).toEqual([]);
  });
});
