import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { afterAll, describe, expect, it } from 'vitest';
import { isNight } from '../extent.ts';
import { httpTest } from '../http.ts';
import { packSdk } from './packed.fixture.ts';
import { listenOn } from './service.fixture.ts';

const run = promisify(execFile);
const ROOT = path.join(import.meta.dirname, '../..');
const PACKAGE = path.join(ROOT, 'packages/sdk');

const shopFolder = await mkdtemp(path.join(os.tmpdir(), 'cointill-sdk-'));
const { tarball, files, unpackedSize } = await packSdk(shopFolder);
const installed = path.join(shopFolder, 'node_modules/@cointill/sdk');
await mkdir(installed, { recursive: true });
await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);

const http = await httpTest();
const url = await listenOn(http.server('test'));
afterAll(async () => {
  await http.close();
  await rm(shopFolder, { recursive: true });
});

/** A shop's script that imports these names, minified. */
async function bundled(names: string): Promise<string> {
  const entry = path.join(shopFolder, 'entry.js');
  await writeFile(entry, `export ${names} from '@cointill/sdk';\n`);
  const bundle = await rolldown({ input: entry, platform: 'browser' });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  return output[0].code;
}

const compressed = (code: string): number => gzipSync(code, { level: 9 }).length;

/** The code of the README, with types for what surrounds it. */
async function readmeCode(): Promise<string> {
  const text = await readFile(path.join(PACKAGE, 'README.md'), 'utf8');
  const blocks = Array.from(text.matchAll(/^```ts\n([\s\S]*?)^```/gm), ([, code = '']) => code);
  return `declare const process: { env: { [name: string]: string | undefined } };
    declare function deliver(reference: string): Promise<void>;
    declare function lastPosition(): Promise<string | null>;
    declare function savePosition(position: string): Promise<void>;
    ${blocks.join('\n').replace('webhook(request)', 'webhook(request: Request)')}
    export { webhook };`;
}

describe('the package', () => {
  it('has no dependencies, its documents and nothing but what it runs, in at most 240 kB', async () => {
    const names = files.map((file) => file.path);
    expect(names.filter((name) => !name.startsWith('dist/')).toSorted()).toEqual([
      'LICENSE',
      'README.md',
      'SKILL.md',
      'bin.js',
      'package.json',
    ]);
    const others = names.filter((name) => name.startsWith('dist/') && !/\.(?:js|d\.ts)$/.test(name));
    expect(others).toEqual(['dist/THIRD-PARTY-LICENSES.txt']);
    expect(JSON.parse(await readFile(path.join(installed, 'package.json'), 'utf8'))).not.toHaveProperty('dependencies');
    expect(unpackedSize).toBeLessThan(240_000);
  });

  it('takes at most 12 kB of a bundle, and 5.3 kB if it only creates orders and verifies webhooks', async () => {
    expect(compressed(await bundled('*'))).toBeLessThanOrEqual(12_000);
    expect(compressed(await bundled('{ Orders, verifyWebhook }'))).toBeLessThanOrEqual(5_300);
  });

  it('needs nothing of Node.js', async () => {
    expect(await bundled('*')).not.toMatch(/node:|\bBuffer\b|\bprocess\b|\brequire\b/);
  });

  it.each(['nodenext', 'bundler'])('has types that a shop compiles with, %s', async (resolution) => {
    await writeFile(path.join(shopFolder, 'package.json'), '{"type":"module"}');
    await writeFile(
      path.join(shopFolder, 'shop.ts'),
      `${await readmeCode()}
       import type { Event } from '@cointill/sdk';
       export const reference = (event: Event): string => event.type === 'order.completed' ? event.data.metadata.order_id : String(event.type);
       // @ts-expect-error A currency is missing.
       await cointill.orders.create({ amount: 25 });\n`,
    );
    const module = resolution === 'bundler' ? 'esnext' : resolution;
    const options = [
      '--noEmit',
      '--strict',
      '--target',
      'es2022',
      '--module',
      module,
      '--moduleResolution',
      resolution,
      '--types',
      '',
    ];
    await expect(run('tsc', [...options, 'shop.ts'], { cwd: shopFolder })).resolves.toMatchObject({ stdout: '' });
  });
});

/** A shop: it exits with 0 if everything is as it should be. */
async function shopScript(name: string, load: string): Promise<string> {
  const shop = await http.shop();
  await writeFile(
    path.join(shopFolder, name),
    `${load}
const check = (name, holds) => { if (!holds) throw new Error(name); };
async function main() {
  const cointill = new Cointill({ key: ${JSON.stringify(await shop.key())}, url: ${JSON.stringify(url)} });
  const order = await cointill.orders.create({ amount: '25.50', currency: 'USD', crypto_currency: 'ETH' });
  check('amount', order.amount === 25.5 && Number(order.amount_text) === 25.5);
  check('exact', order.crypto_amount_text.length > 3 && Number(order.crypto_amount_text) === order.crypto_amount);
  const refused = await cointill.orders.create({ amount: '0', currency: 'USD', crypto_currency: 'ETH' }).catch((error) => error);
  check('refusal', refused instanceof InvalidRequestError && refused.field === 'amount' && refused.requestId.length > 3);
  await cointill.test.simulate(order.id, { outcome: 'paid' });
  const listed = [];
  for await (const one of cointill.orders.list()) listed.push(one.status);
  check('list', listed.join() === 'completed');
  const secret = 'whsec_' + btoa('the secret of this endpoint 1234');
  const request = await cointill.test.signedRequest({ type: 'order.completed', secret });
  const event = await cointill.webhooks.verify(request, secret);
  check('event', event.data.crypto_amount_text === '0.00041667');
  const unreachable = await new Cointill({ key: ${JSON.stringify(await shop.key())}, url: 'http://127.0.0.1:9', retries: 0 }).orders.get(order.id).catch((error) => error);
  check('connection', unreachable instanceof ConnectionError);
  console.log('as it should be');
}
main();
`,
  );
  return name;
}

const IMPORT = "import { Cointill, ConnectionError, InvalidRequestError } from '@cointill/sdk';";
const REQUIRE = "const { Cointill, ConnectionError, InvalidRequestError } = require('@cointill/sdk');";
const FINE = { stdout: 'as it should be\n' };

describe('a shop', () => {
  it('imports or requires it on the Node.js of this repository', async () => {
    const scripts = [await shopScript('shop.mjs', IMPORT), await shopScript('shop.cjs', REQUIRE)];
    for (const script of scripts) {
      expect(await run(process.execPath, [script], { cwd: shopFolder })).toMatchObject(FINE);
    }
  });
});

interface Ended {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of the package, as npx does. */
const command = (node: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  run(node, [path.join(installed, 'bin.js'), ...args], { env });

describe('the commands', () => {
  it('need the address of a service and a key, and nothing of the service itself', async () => {
    const shop = await http.shop();
    const env = { COINTILL_URL: url, COINTILL_KEY: await shop.key() };
    const { stdout } = await command(process.execPath, ['events', 'list'], env);
    expect(stdout).toBe('No events were found.\n');
    const help = await command(process.execPath, ['listen', '--help']);
    expect(help.stdout).toContain('$ npx @cointill/sdk listen --forward-to localhost:3000/webhooks');
    expect(help.stdout).not.toContain('--project');
    await expect(command(process.execPath, ['events', 'list'])).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('COINTILL_URL is not set'),
    });
    await expect(command(process.execPath, ['evnts'])).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('(Did you mean events?)'),
    });
  });
});

describe.runIf(isNight)('with what npm has besides', { timeout: 900_000 }, () => {
  /** Installs a package apart. Returns the path of its folder. */
  async function install(name: string): Promise<string> {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-sdk-tool-'));
    afterAll(() => rm(folder, { recursive: true }));
    await run('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '--no-save', name]);
    return path.join(folder, 'node_modules');
  }

  it.each(['20.19.0', '22.23.3', '24.21.0'])('a shop runs on Node.js %s', async (version) => {
    const folder = await install(`node-linux-${process.arch}@${version}`);
    const node = path.join(folder, `node-linux-${process.arch}/bin/node`);
    for (const script of [await shopScript('shop.mjs', IMPORT), await shopScript('shop.cjs', REQUIRE)]) {
      expect(await run(node, [script], { cwd: shopFolder })).toMatchObject(FINE);
    }
    const { stdout, stderr } = await command(node, ['--version']).catch((error: Ended) => error);
    expect(`${stdout}${stderr}`).toMatch(version.startsWith('20.') ? /need Node\.js 22\.13/ : /^0\.1\.0$/m);
  });

  it('a shop runs on Deno', async () => {
    const folder = await install(`@deno/linux-${process.arch}-glibc@2.9.6`);
    const deno = path.join(folder, `@deno/linux-${process.arch}-glibc/deno`);
    const script = await shopScript('shop.mjs', IMPORT);
    expect(
      await run(deno, ['run', '--allow-all', '--node-modules-dir=manual', script], { cwd: shopFolder }),
    ).toMatchObject(FINE);
  });

  it('a shop runs on Bun', async () => {
    const folder = await install(`@oven/bun-linux-${process.arch === 'x64' ? 'x64-baseline' : 'aarch64'}@1.4.5`);
    const [name = ''] = await readdir(path.join(folder, '@oven'));
    const script = await shopScript('shop.mjs', IMPORT);
    expect(await run(path.join(folder, '@oven', name, 'bin/bun'), [script], { cwd: shopFolder })).toMatchObject(FINE);
  });

  it('publint and Are the types wrong find nothing', async () => {
    const [publint, attw] = [await install('publint@0.3.25'), await install('@arethetypeswrong/cli@0.18.5')];
    expect((await run(path.join(publint, '.bin/publint'), [tarball, '--strict'])).stdout).toMatch(/All good/);
    const { stdout } = await run(path.join(attw, '.bin/attw'), [
      tarball,
      '--profile',
      'esm-only',
      '--format',
      'ascii',
      '--no-color',
    ]);
    expect(stdout).toMatch(/node16 \(from ESM\): 🟢 \(ESM\)\nbundler: 🟢/u);
  });
});
