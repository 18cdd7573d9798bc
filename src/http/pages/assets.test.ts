import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import fastify from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import { buildWeb } from '../../../scripts/build-web.ts';
import { negotiateEncoding } from '../served-file.ts';
import { assetRoutes, loadAssets } from './assets.ts';

async function served() {
  const assets = await loadAssets();
  const app = fastify();
  onTestFinished(() => app.close());
  assetRoutes(app, assets);
  const get = (url: string, headers: Readonly<Record<string, string>> = {}) => app.inject({ url, headers });
  return { assets, get };
}

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-build-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return path.join(folder, 'checkout');
}

describe('the assets of the payment page', () => {
  it('are at most 25 KB of compressed script and style together, and 2 to 4 KB for each script of shops', async () => {
    const { assets } = await served();
    const bytes = (url: string) => assets.routes.find((route) => route.path === url)?.bodies.br.length ?? Infinity;
    expect(bytes(assets.scriptPath) + bytes(assets.stylePath)).toBeLessThanOrEqual(25 * 1024);
    const plain = (url: string) => assets.routes.find((route) => route.path === url)?.bodies.identity.length;
    expect(plain('/embed.js')).toBeLessThanOrEqual(3_072);
    expect(plain('/button.js')).toBeLessThanOrEqual(2_048);
    expect(plain('/modal/btcpay.js')).toBeLessThanOrEqual(4_096);
  });

  it('are the same in every encoding, and come in the best that the client takes', async () => {
    const { assets, get } = await served();
    for (const { path: url } of assets.routes) {
      const plain = await get(url);
      expect(plain.statusCode).toBe(200);
      expect(plain.headers['content-encoding']).toBeUndefined();
      expect(plain.headers['vary']).toBe('accept-encoding');
      const br = await get(url, { 'accept-encoding': 'gzip, deflate, br' });
      expect(br.headers['content-encoding']).toBe('br');
      expect(brotliDecompressSync(br.rawPayload).toString()).toBe(plain.body);
      const gzip = await get(url, { 'accept-encoding': 'gzip' });
      expect(gzip.headers['content-encoding']).toBe('gzip');
      expect(gunzipSync(gzip.rawPayload).toString()).toBe(plain.body);
    }
  });

  it.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['br', 'br'],
    ['gzip, br', 'br'],
    ['GZIP', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0.2, gzip;q=0.8', 'gzip'],
    ['br ; q = 0.9 , gzip;q=0.9', 'br'],
    ['*', 'br'],
    ['*;q=0', 'identity'],
    ['br;q=0, *;q=0.5', 'gzip'],
    ['identity, gzip;q=0.5', 'identity'],
    ['br;q=nonsense', 'br'],
    ['zstd', 'identity'],
  ])('takes the encoding that a client weighs most: %s → %s', (header, encoding) => {
    expect(negotiateEncoding(header)).toBe(encoding);
  });

  it('are kept for good under names of their content, and the script of shops for five minutes on any site', async () => {
    const { assets, get } = await served();
    expect(assets.scriptPath).toMatch(/^\/assets\/page\.[0-9a-f]{16}\.js$/);
    expect(assets.stylePath).toMatch(/^\/assets\/page\.[0-9a-f]{16}\.css$/);
    const script = await get(assets.scriptPath);
    expect(script.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
    });
    expect((await get(assets.stylePath)).headers['content-type']).toBe('text/css; charset=utf-8');
    const embed = await get('/embed.js');
    for (const { headers } of [embed, await get('/button.js'), await get('/modal/btcpay.js?ver=2.8.0')]) {
      expect(headers).toMatchObject({
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=300',
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
      });
    }
    const again = await get('/embed.js', { 'if-none-match': String(embed.headers['etag']) });
    expect([again.statusCode, again.body]).toEqual([304, '']);
    expect((await get('/embed.js', { 'if-none-match': 'W/"another"' })).statusCode).toBe(200);
  });

  it('are built where the build is missing, broken or older than its sources', async () => {
    const folder = await emptyFolder();
    let builds = 0;
    const build = async () => {
      builds += 1;
      await buildWeb(folder);
    };
    const first = await loadAssets({ folder, build });
    await loadAssets({ folder, build });
    expect(builds).toBe(1);
    await writeFile(path.join(folder, 'manifest.json'), '{"page":');
    await loadAssets({ folder, build });
    expect(builds).toBe(2);
    const manifest = {
      page: 'page.js',
      style: 'page.css',
      docs: 'docs.js',
      docsStyle: 'docs.css',
      source: 'of before',
    };
    await writeFile(path.join(folder, 'manifest.json'), JSON.stringify(manifest));
    expect(await loadAssets({ folder, build })).toEqual(first);
    expect(builds).toBe(3);
  });

  it('are whole while several builds run at once, and leave nothing behind', async () => {
    const folder = await emptyFolder();
    await Promise.all([buildWeb(folder), buildWeb(folder), buildWeb(folder)]);
    const noBuild = () => Promise.reject(new Error('not needed'));
    expect((await loadAssets({ folder, build: noBuild })).routes).toHaveLength(7);
    expect(await readdir(path.dirname(folder))).toEqual(['checkout']);
  });

  it('name the way out where what builds them was left out of the installation', async () => {
    const folder = await emptyFolder();
    const build = () => Promise.reject(new Error('not there'));
    await expect(loadAssets({ folder, build, hasBuilder: false })).rejects.toThrow(
      /the tools that build it are not installed\. Run `npm ci`, .* You can run `npm prune --omit=dev` afterwards/,
    );
    await buildWeb(folder);
    expect((await loadAssets({ folder, build, hasBuilder: false })).routes.length).toBeGreaterThan(0);
  });

  it('name the way out when they cannot be built', async () => {
    const folder = await emptyFolder();
    const broken = () => Promise.reject(new Error('no compiler'));
    await expect(loadAssets({ folder, build: broken })).rejects.toThrow('npm run build');
    await expect(loadAssets({ folder, build: async () => {} })).rejects.toThrow('npm run build');
  });
});
