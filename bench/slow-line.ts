import type { CDPSession, Page } from 'playwright-core';

export const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 3, isMobile: true, hasTouch: true };

const CPU_SLOWDOWN = 4;
const BYTES_PER_MBIT = 125_000;

export const SLOW_LINE = '9 Mbit/s down, 1.5 up, 165 ms, CPU slowed 4 times';

/** Slows down the line and the processor of a page to `SLOW_LINE`. */
export async function slowDown(page: Page): Promise<void> {
  const cdp = await slowLine(page, 165);
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
}

/** Slows down a page's line alone; `latencyMs`: from a request to the first byte of its answer. */
export async function slowLine(page: Page, latencyMs: number): Promise<CDPSession> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Network.enable');
  await cdp.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: latencyMs,
    downloadThroughput: 9 * BYTES_PER_MBIT,
    uploadThroughput: 1.5 * BYTES_PER_MBIT,
  });
  return cdp;
}
