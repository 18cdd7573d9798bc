import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { signedRequest } from '../../packages/sdk/src/index.ts';
import { WAIT } from '../deadline.ts';
import { isNight } from '../extent.ts';
import { freePort } from '../ports.ts';
import { packSdk } from './packed.fixture.ts';

const run = promisify(execFile);
const ROOT = path.join(import.meta.dirname, '../..');
const SECRET = 'whsec_c2VjcmV0IG9mIHRoZSByZWNpcGVz';

/** The packages that `npm install` of the pages brings. */
const FRAMEWORKS = [
  'express@5.3.0',
  'hono@4.13.19',
  '@hono/node-server@2.1.9',
  'next@16.4.6',
  'react@19.3.1',
  'react-dom@19.3.1',
  'workerd@1.20261117.1',
];

const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-recipes-'));
await writeFile(path.join(folder, 'package.json'), '{"private":true}\n');
const { tarball: sdk } = await packSdk(folder);
if (isNight) await run('npm', ['install', '--no-audit', '--no-fund', ...FRAMEWORKS], { cwd: folder });
await mkdir(path.join(folder, 'node_modules/@cointill/sdk'), { recursive: true });
await run('tar', ['-xzf', sdk, '-C', path.join(folder, 'node_modules/@cointill/sdk'), '--strip-components=1']);
await symlink(path.join(ROOT, 'node_modules/fastify'), path.join(folder, 'node_modules/fastify'));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The file that a page tells to write, and its code. */
async function fileOf(page: string): Promise<{ readonly name: string; readonly code: string }> {
  const text = await readFile(path.join(ROOT, 'docs/guide', page), 'utf8');
  const [, name = '', code = ''] = /^`([\w./-]+)`:\n\n```js\n([^]*?)^```$/m.exec(text) ?? [];
  return { name, code };
}

/** How each recipe is started, as its page says. */
type Start = (port: number, file: string) => Promise<readonly string[]> | readonly string[];
const withNode: Start = (_port, file) => [process.execPath, file];

const withNext: Start = (port) => [path.join(folder, 'node_modules/.bin/next'), 'dev', '-p', String(port)];

/** Wrangler bundles a Worker in the same way, and runs it on the same program. */
const withWorkerd: Start = async (port, file) => {
  const bundle = await rolldown({ input: path.join(folder, file), platform: 'browser' });
  await bundle.write({ file: path.join(folder, 'bundled.js'), format: 'esm' });
  await writeFile(
    path.join(folder, 'worker.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "shop", worker = .shop)],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "shop")],
);
const shop :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "bundled.js")],
  bindings = [(name = "WEBHOOK_SECRET", text = "${SECRET}")],
  compatibilityDate = "2026-01-01",
);
`,
  );
  return [path.join(folder, 'node_modules/.bin/workerd'), 'serve', 'worker.capnp', '--verbose'];
};

const RECIPES: readonly { readonly page: string; readonly start: Start; readonly isHere: boolean }[] = [
  { page: 'recipe-node.md', start: withNode, isHere: true },
  { page: 'recipe-fastify.md', start: withNode, isHere: true },
  { page: 'recipe-express.md', start: withNode, isHere: isNight },
  { page: 'recipe-hono.md', start: withNode, isHere: isNight },
  { page: 'recipe-next.md', start: withNext, isHere: isNight },
  { page: 'recipe-worker.md', start: withWorkerd, isHere: isNight },
];

/** The recipe's own server. */
async function started(page: string, start: Start) {
  const { name, code } = await fileOf(page);
  await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
  await writeFile(path.join(folder, name), code);
  const port = await freePort();
  const [command = '', ...args] = await start(port, name);
  const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: SECRET, NEXT_TELEMETRY_DISABLED: '1' };
  const child = spawn(command, args, { cwd: folder, env, detached: true });
  onTestFinished(() => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += String(chunk)));
  const url = `http://127.0.0.1:${port}/webhooks`;
  await vi.waitFor(async () => {
    if (child.exitCode !== null) throw new Error(output);
    await fetch(url);
  }, WAIT);
  return { url, output: () => output };
}

const send = async (url: string, secret: string, reference: string, change = (body: string) => body) => {
  const request = await signedRequest({ type: 'order.completed', secret, data: { metadata: { order_id: reference } } });
  const body = change(await request.text());
  return fetch(url, { method: 'POST', headers: request.headers, body });
};

describe.each(RECIPES)('$page', ({ page, start, isHere }) => {
  it.runIf(isHere)('takes a signed webhook and refuses everything else', async () => {
    const { url, output } = await started(page, start);
    expect((await send(url, SECRET, 'A-1001')).status).toBe(200);
    await vi.waitFor(() => expect(output()).toContain('paid A-1001'), WAIT);
    const wrong = await send(url, 'whsec_YW5vdGhlciBzZWNyZXQ=', 'A-1002');
    expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('secret')]);
    expect((await send(url, SECRET, 'A-1003', (body) => body.replace('A-1003', 'A-1004'))).status).toBe(400);
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(400);
    const large = await fetch(url, { method: 'POST', body: 'x'.repeat(2_000_000) }).catch(() => null);
    expect([400, 413, undefined]).toContain(large?.status);
    // A server may close the connection on which it refused a large body.
    await vi.waitFor(async () => expect((await send(url, SECRET, 'A-1005')).status).toBe(200), WAIT);
    expect(output()).not.toMatch(/A-100[234]/);
  });
});
