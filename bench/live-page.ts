import http from 'node:http';
import type { Browser } from 'playwright-core';
import { decodeId } from '../src/domain/id.ts';
import { openDatabase, type DatabaseHandle } from '../src/store/database.ts';
import { lockPayments } from '../src/store/payments/payments.ts';
import { saveChanges } from '../src/store/payments/save-changes.ts';
import { launchBrowser } from '../test/browser.ts';
import { percentile } from './load.ts';
import { makeMerchant, ORDER } from './merchant.ts';
import type { Figure } from './report.ts';
import { startBenchService } from './service.ts';

const STREAMS = 200;
/** The number of these pages in a browser, which draw each change. */
const BROWSER_PAGES = 5;
const ROUNDS = 20;
/** Each client may have 100 streams open; Linux answers on all of 127.0.0.0/8. */
const STREAMS_PER_ADDRESS = 80;
const TARGET_MS = 300;

/**
 * The time from the commit that changes 200 payments until each of their 200 open pages got the change, or in a browser
 * has drawn it.
 */
export async function livePage(): Promise<readonly Figure[]> {
  // The browser first: where there is none, no service is left behind.
  const browser = await launchBrowser();
  const service = await startBenchService();
  const handle = openDatabase(service.database, { maxConnections: 1, onError: () => {} });
  const streams: Stream[] = [];
  try {
    const { headers } = await makeMerchant(service);
    const ids: string[] = [];
    for (let index = 0; index < STREAMS; index += 1) {
      const id = await createOrder(service.test, headers);
      ids.push(decodeId('order', id) ?? '');
      if (index < BROWSER_PAGES) {
        streams.push(await openPage(browser, `${service.test}/pay/${id}`));
        continue;
      }
      const from = `127.0.0.${2 + Math.floor(index / STREAMS_PER_ADDRESS)}`;
      streams.push(await openStream(`${service.test}/pay/${id}/events`, from));
    }
    const delays: number[] = [];
    const shown: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const changed = await Promise.all(streams.map((stream) => stream.next()));
      const committedAt = await changeAll(handle, ids);
      const changedAt = await Promise.all(changed.map(({ at }) => at));
      delays.push(...changedAt.map((at) => at - committedAt));
      shown.push(...changedAt.slice(0, BROWSER_PAGES).map((at) => at - committedAt));
    }
    return [
      figure(`${STREAMS} payments changed in one commit → told on ${STREAMS} open event streams`, delays),
      figure(`the same → shown on the ${BROWSER_PAGES} of them that are pages in Chromium`, shown),
    ];
  } finally {
    for (const stream of streams) stream.close();
    await browser.close();
    await handle.close();
    await service.stop();
  }
}

function figure(name: string, delays: readonly number[]): Figure {
  const p95 = percentile(delays, 0.95);
  return {
    name,
    measured: `p50 ${Math.round(percentile(delays, 0.5))} ms, p95 ${Math.round(p95)} ms`,
    target: `p95 ${TARGET_MS} ms`,
    holds: p95 <= TARGET_MS,
  };
}

async function createOrder(url: string, headers: Record<string, string>): Promise<string> {
  const answer = await fetch(`${url}/v1/orders`, { method: 'POST', headers, body: ORDER });
  const { id } = (await answer.json()) as { id: string };
  return id;
}

/**
 * Moves every payment between two statuses, as a chain and its reorganisations would; returns when it was committed.
 */
async function changeAll({ db }: DatabaseHandle, ids: readonly string[]): Promise<number> {
  let committedAt = 0;
  await db.transaction().execute(async (trx) => {
    const payments = await lockPayments(trx, ids);
    const changes = payments.map((before) => ({
      before,
      after: { ...before, status: before.status === 'pending' ? ('processing' as const) : ('pending' as const) },
      // Nothing is due: the sandbox's timer would change payments too.
      dueAt: null,
      transitions: [],
      events: [],
    }));
    await saveChanges(trx, changes, 2);
    // Before the commit itself, which counts.
    committedAt = now();
  });
  return committedAt;
}

/** The browser's clock and this process's are one. */
const now = (): number => performance.timeOrigin + performance.now();

interface Stream {
  /** Resolves when the next event arrives; called before the change. */
  next(): Promise<{ readonly at: Promise<number> }>;
  close(): void;
}

/** A page counts a change when it is in the next frame that the browser draws. */
async function openPage(browser: Browser, url: string): Promise<Stream> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const stream = page.waitForResponse((response) => response.url().includes('/events'));
  await page.goto(url);
  await stream;
  return {
    next: async () => {
      const watching = await page.evaluateHandle(WATCH);
      return { at: watching.evaluate(({ shown }) => shown) };
    },
    close: () => void context.close(),
  };
}

/** Runs in the page. */
const WATCH = `(() => {
  const version = () => document.getElementById('live').dataset.version;
  const before = version();
  const shown = new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      if (version() === before) return;
      observer.disconnect();
      requestAnimationFrame(() => resolve(performance.timeOrigin + performance.now()));
    });
    observer.observe(document.body, { childList: true, subtree: true });
  });
  return { shown };
})()`;

/** Resolves when the page's version has arrived; a page that sends none gets it at once. */
async function openStream(url: string, localAddress: string): Promise<Stream> {
  let pending = Promise.withResolvers<number>();
  const request = http.get(url, { localAddress, agent: false }, (response) => {
    if (response.statusCode !== 200) request.destroy(new Error(`${url} answered ${response.statusCode}.`));
    let text = '';
    response.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const isEvent = text.startsWith('event: changed\n');
        text = text.slice(end + 2);
        if (!isEvent) continue;
        pending.resolve(now());
        pending = Promise.withResolvers<number>();
        // A stream that breaks fails the measurement where it waits for an event, and nowhere else.
        pending.promise.catch(() => {});
      }
    });
    response.on('error', (error) => pending.reject(error));
    response.on('end', () => pending.reject(new Error(`${url} ended.`)));
  });
  request.on('error', (error) => pending.reject(error));
  await pending.promise;
  return { next: () => Promise.resolve({ at: pending.promise }), close: () => void request.destroy() };
}
