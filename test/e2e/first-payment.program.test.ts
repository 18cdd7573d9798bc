import { execFile, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { expect, it, onTestFinished } from 'vitest';
import { textAt } from '../../src/cli/program.fixture.ts';
import { receive } from '../../src/webhooks/local-receivers.fixture.ts';
import { testDatabase } from '../database.ts';
import { client, eventOf, eventually, freePort, testService } from '../program.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const COMPLETE_AFTER_SECONDS = 2;

/** Runs a command line as somebody who copied it from the terminal. */
async function shell(command: string): Promise<string> {
  return (await promisify(execFile)('sh', ['-c', command])).stdout;
}

/** A code block of a document, the only one in which the words stand. */
async function blockOf(file: string, words: string): Promise<string> {
  const text = await readFile(path.join(ROOT, file), 'utf8');
  const blocks = [...text.matchAll(/^```\w+\n([^]*?)^```$/gm)].map(([, block = '']) => block);
  const [found, ...others] = blocks.filter((block) => block.includes(words));
  if (found === undefined || others.length > 0) throw new Error(`${file} must have one block with: ${words}`);
  return found;
}

/** A shop's folder with a document's program, beside the packages that it imports. */
async function folderWith(program: string, file: string): Promise<string> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'cointill-shop-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  await symlink(path.join(ROOT, 'node_modules'), path.join(dir, 'node_modules'));
  await writeFile(path.join(dir, program), await blockOf(file, `// ${program}`));
  return dir;
}

/** The curl that the terminal shows. */
function curlIn(banner: string): string {
  return /^ +(curl .+)$/m.exec(banner)?.[1] ?? '';
}

/** Replaces values that differ at every first start by the README's. */
function asInReadme(banner: string, service: { readonly live: string; readonly sandbox: string }): string {
  return (
    banner
      .replaceAll(service.live, 'http://127.0.0.1:4000')
      .replaceAll(service.sandbox, 'http://127.0.0.1:4001')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b')
      .replaceAll(/sk_test_\w+/g, 'sk_test_…')
      .replace(/setup\/[\w-]{43}/, 'setup/…')
      // Only this test sets DATA_DIR.
      .replaceAll(/DATA_DIR=\S+ /g, '')
      .replace(/embedded, in .+/, 'embedded, in /home/you/cointill/data')
      .replace(`after ${COMPLETE_AFTER_SECONDS} seconds`, 'after 60 seconds')
      .trim()
  );
}

async function firstStart(env: Readonly<Record<string, string>> = {}) {
  const settings = { SANDBOX_COMPLETE_AFTER_SECONDS: String(COMPLETE_AFTER_SECONDS), ...env };
  const service = await testService(settings, 'bare');
  const { running, first, stop } = await service.start();
  const [banner] = await running.waitFor(/Cointill is running[^]*Stop with Ctrl-C\./);
  if (first === null) throw new Error('The first start made no key.');
  return { service, banner, stop, ...first };
}

it("the README's first payment can be followed word for word: listen, curl, look at the page, see it complete", async () => {
  const { service, banner, projectId } = await firstStart({ COINTILL_CALLED_AS: './bin/cointill' });
  expect(asInReadme(banner, service)).toBe((await blockOf('README.md', 'This is the first start.')).trim());

  expect(banner).toContain(`  DATA_DIR=${service.cointill.dataDir} ./bin/cointill listen --project ${projectId}\n`);
  const port = String(await freePort());
  const listener = service.cointill.start('listen', '--project', projectId, '--port', port);
  await listener.waitFor(/Registered as/);

  const order: unknown = JSON.parse(await shell(curlIn(banner)));
  expect(order).toMatchObject({ status: 'pending', amount: 25, crypto_currency: 'BTC', crypto_amount: 0.00041667 });
  const page = await fetch(textAt(order, 'payment_url'));
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(await page.text()).toContain('0.00041667');

  const [told] = await listener.waitFor(/order\.completed, event 2[^]*Answered +200/);
  expect(told).toContain(textAt(order, 'id'));
  const shown = told.replace(/evt_\w+/, 'evt_…').replaceAll(/ord_\w+/g, 'ord_…');
  expect(shown).toBe((await blockOf('README.md', 'order.completed, event 2')).trim());
  listener.signal('SIGINT');
  expect((await listener.ended).code).toBe(0);
});

it('an order completes by itself, its signed webhooks arrive in time, and reading it changes nothing', async () => {
  const { url } = await testDatabase();
  const { service, banner, projectId, key } = await firstStart({ DATABASE_URL: url });
  const shop = await receive((response) => void response.end());
  onTestFinished(() => shop.close());
  const made = await service.command(
    `webhook create --project ${projectId} --mode test --events all --url http://127.0.0.1:${shop.port}/hooks`,
  );
  const secret = textAt(made, 'secret');

  const order: unknown = JSON.parse(await shell(curlIn(banner)));
  const id = textAt(order, 'id');
  const api = client(service.sandbox, key);
  const pending = await api(`/v1/orders/${id}`);
  expect(pending.body).toMatchObject({ id, status: 'pending', transaction_hash: null, completed_at: null });
  expect((await api(`/v1/orders/${id}`)).body).toEqual(pending.body);

  const completed = await eventually('the order is completed', async () => {
    const { body } = await api(`/v1/orders/${id}`);
    return body['status'] === 'completed' ? body : null;
  });
  expect(completed).toMatchObject({
    amount_received: 0.00041667,
    exception: 'none',
    transaction_hash: expect.any(String),
  });
  const tookMs = Date.parse(textAt(completed, 'completed_at')) - Date.parse(textAt(order, 'created_at'));
  expect(tookMs).toBeGreaterThanOrEqual(COMPLETE_AFTER_SECONDS * 1000);
  expect((await api(`/v1/orders/${id}`)).body).toEqual(completed);

  await eventually('both webhooks', () => (shop.requests.length === 2 ? true : null));
  // A test order that completes by its timer sends no order.confirming.
  expect(shop.requests.map((request) => eventOf(request).type)).toEqual(['order.created', 'order.completed']);
  const { isGenuine } = await import(
    path.join(await folderWith('signature.mjs', 'docs/guide/webhooks.md'), 'signature.mjs')
  );
  for (const request of shop.requests) {
    const event = eventOf(request);
    const headers = request.headers as Record<string, string>;
    expect(new Webhook(secret).verify(request.body, headers)).toEqual(event);
    expect(() => new Webhook(secret).verify(`${request.body} `, headers)).toThrow('No matching signature found');
    const signature = headers['x-service-signature'] ?? '';
    expect(signature).toBe(createHmac('sha256', secret).update(request.body).digest('hex'));
    expect(isGenuine(request.body, signature, secret)).toBe(true);
    expect(isGenuine(`${request.body} `, signature, secret)).toBe(false);
    expect(isGenuine(request.body, signature.toUpperCase(), secret)).toBe(false);
    expect(isGenuine(request.body, undefined, secret)).toBe(false);
    expect(headers['webhook-id']).toBe(event.id);
    expect(event.data).toMatchObject({ object: 'order', id, amount: 25, metadata: { order_id: id } });
  }
  expect(shop.requests.map((request) => eventOf(request).data.status)).toEqual(['pending', 'completed']);
});

it("the README's receiver runs as it stands there and refuses what we did not sign", async () => {
  const { url } = await testDatabase();
  const { service, projectId, key } = await firstStart({ DATABASE_URL: url });
  const dir = await folderWith('receiver.mjs', 'README.md');
  const port = await freePort();
  const at = `http://127.0.0.1:${port}/`;
  const made = await service.command(
    `webhook create --project ${projectId} --mode test --events order.created --url ${at}`,
  );
  const env = { PATH: process.env['PATH'], WEBHOOK_SECRET: textAt(made, 'secret'), PORT: String(port) };
  const receiver = spawn(process.execPath, ['receiver.mjs'], { cwd: dir, env, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void receiver.kill());
  let output = '';
  receiver.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const unsigned = async (): Promise<number> => (await fetch(at, { method: 'POST', body: '{}' })).status;
  expect(await eventually('the receiver listens', unsigned)).toBe(401);

  const order = { amount: 1, currency: 'USD', crypto_currency: 'ETH', order_id: 'SHOP-7' };
  expect((await client(service.sandbox, key)('/v1/orders', order)).status).toBe(200);
  const told = /^evt_\w+ order\.created SHOP-7 pending$/m;
  await eventually('the receiver tells of the event', () => (told.test(output) ? true : null));
});
