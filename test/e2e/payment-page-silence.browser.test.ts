import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { client, freePort } from '../program.ts';
import { isShown, pay, say, sees, until, useBrowser } from './payment-page.fixture.ts';
import { startProgram, type Running } from './started-program.fixture.ts';

/**
 * Within which a page says that it cannot see changes, and shows what is known: on a busy machine, too, and half of
 * what a query may take otherwise.
 */
const WITHIN_MS = 15_000;

describe.skipIf(hasNoBrowser)('while the database is silent the payment page', () => {
  const openTab = useBrowser();
  let dataDir = '';
  let sandbox = '';
  let api: ReturnType<typeof client>;
  let running: Running | null = null;

  // A PostgreSQL of its own, because the server of the other tests must not be stopped.
  beforeAll(async () => {
    dataDir = await mkdtemp(path.join(os.tmpdir(), 'cointill-silence-'));
    const [port, sandboxPort] = [await freePort(), await freePort()];
    sandbox = `http://127.0.0.1:${sandboxPort}`;
    const { PATH = '', HOME = dataDir } = process.env;
    const env = { PATH, HOME, DATA_DIR: dataDir, PORT: String(port), SANDBOX_PORT: String(sandboxPort) };
    running = await startProgram({ ...env, SANDBOX_COMPLETE_AFTER_SECONDS: '600' });
    api = client(sandbox, /sk_test_\w+/.exec(running.text())?.[0] ?? '');
  });
  afterAll(async () => {
    await running?.end('SIGTERM');
    await rm(dataDir, { recursive: true, force: true });
  });

  /** Stops the server and the processes of its connections; returns how to let them go on. */
  async function freezeDatabase(): Promise<() => void> {
    const [pid = ''] = (await readFile(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n');
    const server = Number(pid);
    const children = await readFile(`/proc/${server}/task/${server}/children`, 'utf8');
    const pids = [server, ...children.trim().split(' ').map(Number)];
    for (const one of pids) process.kill(one, 'SIGSTOP');
    let isFrozen = true;
    const thaw = () => {
      if (isFrozen) for (const one of pids) process.kill(one, 'SIGCONT');
      isFrozen = false;
    };
    onTestFinished(thaw);
    return thaw;
  }

  it('says so where it is open, and where it is opened again, and goes on when the database does', async () => {
    const payment = await pay(api, { amount: 10, crypto_currency: 'LTC' });
    const { page } = await openTab({ alsoAsks: [sandbox], expects: /503/ });
    await page.goto(payment.url);
    await sees(page, say('pay_title'));
    const address = await page.locator('[data-address]').getAttribute('data-address');
    const says = say('stale', { time: '' }).split('.')[0] ?? '';

    const thaw = await freezeDatabase();
    const frozenAt = performance.now();
    await sees(page, says);
    expect(performance.now() - frozenAt).toBeLessThan(WITHIN_MS);
    expect(await page.locator('[data-address]').getAttribute('data-address')).toBe(address);

    const askedAt = performance.now();
    const answer = await page.reload();
    expect(performance.now() - askedAt).toBeLessThan(WITHIN_MS);
    expect(answer?.status()).toBe(503);
    await sees(page, says, say('pay_title'));
    expect(await page.locator('[data-address]').getAttribute('data-address')).toBe(address);

    thaw();
    await until('the page is up to date', async () => !(await isShown(page, says)));
    await sees(page, say('pay_title'));
  });

  it('says that it is not available where nothing is known, and opens when the database goes on', async () => {
    const payment = await pay(api, { amount: 10, crypto_currency: 'LTC' });
    const { page } = await openTab({ alsoAsks: [sandbox], expects: /503/ });
    const thaw = await freezeDatabase();
    const askedAt = performance.now();
    await page.goto(payment.url);
    expect(performance.now() - askedAt).toBeLessThan(WITHIN_MS);
    await sees(page, say('fault_title'));
    thaw();
    await sees(page, say('pay_title'));
  });
});
