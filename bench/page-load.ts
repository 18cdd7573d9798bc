import type { Browser, CDPSession } from 'playwright-core';
import { launchBrowser } from '../test/browser.ts';
import { median } from './load.ts';
import { choosingPage, makeMerchant, requestPage } from './merchant.ts';
import { payingPage } from './page.ts';
import type { Figure } from './report.ts';
import { startBenchService } from './service.ts';
import { PHONE, SLOW_LINE, slowDown } from './slow-line.ts';

const VISITS = 7;

const KB = 1_024;
const PAGE_BYTES = 20 * KB;
const ASSET_BYTES = 12 * KB;
const EMBED_BYTES = 3 * KB;
const PAINT_MS = 800;

/** The cost of a first visit of the payment page on a phone: bytes of all resources, and time until it can be read. */
export async function pageLoad(): Promise<readonly Figure[]> {
  // The browser first: where there is none, no service is left behind.
  const browser = await launchBrowser();
  // The payment must not complete by itself during the measurement.
  const service = await startBenchService({ env: { SANDBOX_COMPLETE_AFTER_SECONDS: '86400' } });
  try {
    const { headers } = await makeMerchant(service);
    const pages = [
      ['to see a payment request', await requestPage(service, headers)],
      ['to choose a coin', await choosingPage(service, headers)],
      ['to pay', (await payingPage(service)).path],
    ] as const;
    const figures: Figure[] = [];
    let bytes: ReadonlyMap<string, number> = new Map();
    for (const [step, path] of pages) {
      const url = `${service.test}${path}`;
      bytes = await firstVisit(browser, url);
      const paints: number[] = [];
      for (let visit = 0; visit < VISITS; visit += 1) paints.push(await firstPaint(browser, url));
      figures.push(...visitFigures(step, bytes, paints));
    }
    const assets = [...bytes].filter(([path]) => /\.(?:js|css)$/.test(path));
    const assetSizes = await Promise.all(assets.map(([path]) => sizeOf(`${service.test}${path}`, 'br')));
    const assetBytes = sum(assetSizes);
    const embedBytes = await sizeOf(`${service.test}/embed.js`, 'identity');
    return [
      ...figures,
      {
        name: 'script and style of the page, compressed',
        measured: `${assetBytes} bytes`,
        target: `${ASSET_BYTES} bytes`,
        holds: assets.length >= 2 && assetBytes <= ASSET_BYTES,
      },
      {
        name: 'embed.js, as it is',
        measured: `${embedBytes} bytes (${await sizeOf(`${service.test}/embed.js`, 'br')} compressed)`,
        target: `${EMBED_BYTES} bytes`,
        holds: embedBytes <= EMBED_BYTES,
      },
    ];
  } finally {
    await browser.close();
    await service.stop();
  }
}

function visitFigures(step: string, bytes: ReadonlyMap<string, number>, paints: readonly number[]): readonly Figure[] {
  const total = sum([...bytes.values()]);
  const paintMs = median(paints);
  return [
    {
      name: `bytes over the wire of a first visit ${step}`,
      measured: `${total} (${[...bytes].map(([path, size]) => `${nameOf(path)} ${size}`).join(', ')})`,
      target: `${PAGE_BYTES}`,
      holds: total <= PAGE_BYTES,
    },
    {
      name: `first contentful paint ${step}, ${SLOW_LINE}`,
      measured: `${Math.round(paintMs)} ms (${Math.round(Math.min(...paints))} to ${Math.round(Math.max(...paints))})`,
      target: `${PAINT_MS} ms`,
      holds: paintMs <= PAINT_MS,
    },
  ];
}

/** Bytes by path with headers: of finished answers, and of the stream, which is open when the page's script runs. */
async function firstVisit(browser: Browser, url: string): Promise<ReadonlyMap<string, number>> {
  const context = await browser.newContext(PHONE);
  try {
    const page = await context.newPage();
    const cdp = await context.newCDPSession(page);
    const sizes = await countBytes(cdp);
    const stream = new Promise<void>((resolve) => {
      cdp.on('Network.responseReceived', ({ response }) => isStream(response.url) && resolve());
    });
    await page.goto(url, { waitUntil: 'load' });
    if (new URL(url).pathname.startsWith('/pay/')) await stream;
    const hosts = [...sizes.keys()].filter((asked) => !asked.startsWith(`${new URL(url).origin}/`));
    if (hosts.length > 0) throw new Error(`The page asked other hosts: ${hosts.join(', ')}.`);
    return new Map([...sizes].map(([asked, size]) => [new URL(asked).pathname, size]));
  } finally {
    await context.close();
  }
}

/** Counts from now on; the map grows as answers arrive. Requests for `data:` cost nothing and are left out. */
async function countBytes(cdp: CDPSession): Promise<ReadonlyMap<string, number>> {
  const urls = new Map<string, string>();
  const sizes = new Map<string, number>();
  const set = (requestId: string, change: (before: number) => number): void => {
    const url = urls.get(requestId);
    if (url !== undefined) sizes.set(url, change(sizes.get(url) ?? 0));
  };
  cdp.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (!request.url.startsWith('data:')) urls.set(requestId, request.url);
  });
  cdp.on('Network.responseReceived', ({ requestId, response }) => set(requestId, () => response.encodedDataLength));
  cdp.on('Network.dataReceived', ({ requestId, encodedDataLength }) =>
    set(requestId, (before) => before + encodedDataLength),
  );
  // The sum of these events, reported when the request ends.
  cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => set(requestId, () => encodedDataLength));
  await cdp.send('Network.enable');
  return sizes;
}

/** Milliseconds from the start of the navigation, in a new browser. */
async function firstPaint(browser: Browser, url: string): Promise<number> {
  const context = await browser.newContext(PHONE);
  try {
    const page = await context.newPage();
    await slowDown(page);
    await page.goto(url, { waitUntil: 'load' });
    return await page.evaluate<number>(`new Promise((resolve) =>
      new PerformanceObserver((list) => {
        const [paint] = list.getEntriesByName('first-contentful-paint');
        if (paint) resolve(paint.startTime);
      }).observe({ type: 'paint', buffered: true }))`);
  } finally {
    await context.close();
  }
}

/** The bytes of a body in this encoding. */
async function sizeOf(url: string, encoding: 'br' | 'identity'): Promise<number> {
  const answer = await fetch(url, { method: 'HEAD', headers: { 'accept-encoding': encoding } });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}.`);
  return Number(answer.headers.get('content-length'));
}

function isStream(url: string): boolean {
  return new URL(url).pathname.endsWith('/events');
}

function nameOf(path: string): string {
  if (path.startsWith('/assets/')) return path.endsWith('.css') ? 'style' : 'script';
  return path.endsWith('/events') ? 'stream' : /^\/(?:pay|request)\//.test(path) ? 'page' : path;
}

function sum(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total + size, 0);
}
