import type { Page } from 'playwright-core';
import { startAnvil, type Anvil } from '../test/anvil.ts';
import { launchBrowser } from '../test/browser.ts';
import { percentile } from './load.ts';
import type { Figure } from './report.ts';
import { startBenchService } from './service.ts';

const SALES = 40;
const CODE_MS = 300;
const SEEN_MS = 1_500;
const PASSWORD = 'grumpy otter parade';
/** 30 USD at the fixed price of 3,000 USD. */
const OWED_WEI = 10n ** 16n;

/**
 * The till of a live project on a chain that mines each transaction at once: the time from the tap on `Charge` until
 * the code is painted, and from the broadcast of its payment until the till shows it as seen.
 */
export async function till(): Promise<readonly Figure[]> {
  const [browser, anvil] = [await launchBrowser(), await startAnvil()];
  const service = await startBenchService({
    env: {
      ETHEREUM_RPC_URL: anvil.url,
      ETHEREUM_CHAIN_ID: '31337',
      FIXED_RATES: 'ETH=3000,USDT=1,USDC=1',
      RATE_SOURCES: 'none',
    },
  });
  try {
    const project = String((await service.cli('project', 'create', '--name', 'Bench'))['id']);
    const treasury = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
    await service.cli('wallet', 'set', '--project', project, '--network', 'ethereum', '--treasury', treasury);
    const invite = ['user', 'invite', '--email', 'kim@shop.example', '--role', 'cashier', '--project', project];
    const link = JSON.stringify(await service.cli(...invite));
    const token = /\/setup\/([\w-]+)/.exec(link)?.[1] ?? '';
    const page = await (await browser.newContext({ hasTouch: true })).newPage();
    // The address of its own that the dashboard has is the same as that of the links.
    await page.goto(`${service.live}/dashboard/sign-in`);
    await page.evaluate(accepting(token));
    await page.goto(`${service.live}/till?project=${project}&mode=live`);
    const [codes, seen]: [number[], number[]] = [[], []];
    for (let sale = 0; sale < SALES; sale += 1) {
      const measured = await sell(page, anvil, project);
      codes.push(measured.codeMs);
      seen.push(measured.seenMs);
    }
    return [
      figure('till: tap on Charge → code painted', codes, CODE_MS),
      figure('till: broadcast on anvil → shown as seen', seen, SEEN_MS),
    ];
  } finally {
    await browser.close();
    await service.stop();
    await anvil.stop();
  }
}

async function sell(page: Page, anvil: Anvil, project: string): Promise<{ codeMs: number; seenMs: number }> {
  for (const key of ['3', '00', '0']) await page.getByRole('button', { name: key, exact: true }).tap();
  const code = await page.evaluateHandle(WATCH_CODE);
  await page.getByRole('button', { name: /^Charge/ }).tap();
  const codeMs = await code.evaluate(({ ms }) => ms);
  const id = new URL(page.url()).searchParams.get('sale') ?? '';
  const path = `/dashboard/api/projects/${project}/live/till/sales/${id}`;
  const address = await page.evaluate<string>(
    `fetch('${path}').then((one) => one.json()).then((sale) => sale.pay.address)`,
  );
  const shown = page.evaluate<number>(UNTIL_SEEN);
  const sentAt = performance.timeOrigin + performance.now();
  await anvil.transfer(address, OWED_WEI);
  const seenMs = (await shown) - sentAt;
  await page.getByRole('button', { name: 'New sale' }).tap();
  return { codeMs, seenMs };
}

function figure(name: string, times: readonly number[], limitMs: number): Figure {
  const p95 = percentile(times, 0.95);
  return {
    name: `${name}, p95 of ${times.length} sales`,
    measured: `${Math.round(p95)} ms (${Math.round(Math.min(...times))} to ${Math.round(Math.max(...times))})`,
    target: `≤ ${limitMs} ms`,
    holds: p95 <= limitMs,
  };
}

function accepting(token: string): string {
  const body = JSON.stringify({ token, password: PASSWORD });
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
  return `fetch('/dashboard/api/links/accept', ${JSON.stringify(request)}).then((answer) => {
    if (!answer.ok) throw new Error('The invitation was answered ' + answer.status);
  })`;
}

/** Runs in the page: the time from the finger on the button until the frame with the code. */
const WATCH_CODE = `(() => {
  const ms = new Promise((done) => {
    addEventListener('pointerdown', () => {
      const startedAt = performance.now();
      const check = () => {
        if (document.querySelector('main svg[role=img]') === null) requestAnimationFrame(check);
        else setTimeout(() => done(performance.now() - startedAt));
      };
      check();
    }, { once: true });
  });
  return { ms };
})()`;

/** Runs in the page: when its heading was painted, in epoch milliseconds. */
const UNTIL_SEEN = `new Promise((done) => {
  const check = () => {
    const heading = document.querySelector('main h2')?.textContent ?? '';
    if (/^(Seen|Paid)/.test(heading)) setTimeout(() => done(performance.timeOrigin + performance.now()));
    else requestAnimationFrame(check);
  };
  check();
})`;
