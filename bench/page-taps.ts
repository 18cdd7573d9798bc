import type { Browser, CDPSession, Page } from 'playwright-core';
import { launchBrowser } from '../test/browser.ts';
import { median } from './load.ts';
import { choosingPage, makeMerchant } from './merchant.ts';
import type { Figure } from './report.ts';
import { startBenchService, type BenchService } from './service.ts';
import { PHONE, slowLine } from './slow-line.ts';

const CUSTOMERS = 5;
const ROUND_TRIP_MS = 1_500;
const TARGET_MS = 100;
/** The limit until a tap that needs the server gets a mark on the tapped part. */
const MARK = '[aria-busy=true]';

/**
 * The time until a tap changes the screen, on a line on which every answer takes a second and a half. A tap counts only
 * if its mark has changed pixels: pictures of the tapped part are compared.
 */
export async function pageTaps(): Promise<readonly Figure[]> {
  const browser = await launchBrowser();
  const service = await startBenchService({ env: { SANDBOX_COMPLETE_AFTER_SECONDS: '86400' } });
  try {
    const { headers } = await makeMerchant(service);
    const taps: Tap[] = [];
    for (let customer = 0; customer < CUSTOMERS; customer += 1)
      taps.push(...(await payOnSlowLine(browser, service, headers)));
    const medians = [...Map.groupBy(taps, ({ name }) => name)].map(([name, all]) => ({
      name,
      ms: Math.round(median(all.map(({ ms }) => ms))),
    }));
    const slowest = Math.max(...medians.map(({ ms }) => ms));
    const unseen = [...new Set(taps.filter(({ isSeen }) => !isSeen).map(({ name }) => name))];
    return [
      {
        name: `a tap on the payment page to a changed screen, ${ROUND_TRIP_MS} ms round trip`,
        measured:
          `slowest median ${slowest} ms (${medians.map(({ name, ms }) => `${name} ${ms}`).join(', ')})` +
          (unseen.length === 0 ? '' : `; nothing seen: ${unseen.join(', ')}`),
        target: `${TARGET_MS} ms`,
        holds: slowest <= TARGET_MS && unseen.length === 0,
      },
    ];
  } finally {
    await browser.close();
    await service.stop();
  }
}

interface Tap {
  readonly name: string;
  readonly ms: number;
  /** Whether the tapped part looks different. */
  readonly isSeen: boolean;
}

/** Each kind of tap once: a form, a link, a coin with networks, a copy, a claim. */
async function payOnSlowLine(
  browser: Browser,
  service: BenchService,
  headers: Record<string, string>,
): Promise<readonly Tap[]> {
  const context = await browser.newContext({ ...PHONE, permissions: ['clipboard-write'] });
  try {
    const page = await context.newPage();
    const path = await choosingPage(service, headers);
    await page.goto(`${service.test}${path}`, { waitUntil: 'load' });
    const cdp = await slowLine(page, ROUND_TRIP_MS);
    const taps: Tap[] = [];
    const tap = async (name: string, target: string, changed = MARK): Promise<void> => {
      taps.push(await measureTap(page, cdp, { name, target, changed }));
    };
    await tap('networks', '#asset-USDC summary', '#asset-USDC[open] form');
    await tap('coin', 'button.token:has-text("Bitcoin")');
    await page.locator('[data-copy]').first().waitFor();
    await tap('copy', '[data-copy]', '[data-feedback]');
    await tap('another coin', 'a[href*="choose=token"]');
    await page.locator('button.token').first().waitFor();
    await tap('keep the coin', '.actions a.button');
    await page.locator('#outcome').waitFor();
    await page.locator('#outcome').selectOption('over');
    await tap('simulate', '.simulate button');
    await page.locator('[data-print]').waitFor();
    const claim = await refund(service, path, headers);
    await page.goto(claim);
    await page.locator('input[name=address]').fill('nowhere');
    await tap('claim', 'main form button');
    await page.getByRole('alert').waitFor();
    const other = await choosingPage(service, headers);
    await page.goto(`${service.test}${other}`);
    await page.locator('details.cancel summary, summary:has-text("Cancel")').first().tap();
    await tap('cancel', 'details[open] form button');
    return taps;
  } finally {
    await context.close();
  }
}

/** Milliseconds from the finger's lifting until the frame with `changed` was painted. */
async function measureTap(
  page: Page,
  cdp: CDPSession,
  { name, target, changed }: { readonly name: string; readonly target: string; readonly changed: string },
): Promise<Tap> {
  const element = page.locator(target).first();
  await element.scrollIntoViewIfNeeded();
  const box = await element.boundingBox();
  if (box === null) throw new Error(`${name} is nowhere to be tapped.`);
  // By the debugger, since a picture of Playwright's waits for the navigation that a link begins.
  const scrolled = await page.evaluate<number>('scrollY');
  const picture = () => cdp.send('Page.captureScreenshot', { clip: { ...box, y: box.y + scrolled, scale: 1 } });
  const before = await picture();
  const shown = page.evaluate<number>(`new Promise((done) => {
    let tappedAt = 0;
    addEventListener('pointerup', ({ timeStamp }) => (tappedAt = timeStamp), { capture: true, once: true });
    const check = () => {
      if (tappedAt > 0 && document.querySelector(${JSON.stringify(changed)})?.checkVisibility())
        setTimeout(() => done(performance.now() - tappedAt));
      else requestAnimationFrame(check);
    };
    check();
  })`);
  await page.touchscreen.tap(box.x + box.width / 2, box.y + box.height / 2);
  const ms = await shown;
  const after = await picture();
  return { name, ms, isSeen: before.data !== after.data };
}

/** Where the customer of this completed payment says where a refund goes. */
async function refund(service: BenchService, path: string, headers: Record<string, string>): Promise<string> {
  const body = JSON.stringify({ transaction_id: path.split('/').at(-1), amount: 1 });
  const answer = await fetch(`${service.test}/v1/refunds`, { method: 'POST', headers, body });
  const { claim_url: claimUrl } = (await answer.json()) as { readonly claim_url: string };
  return claimUrl;
}
