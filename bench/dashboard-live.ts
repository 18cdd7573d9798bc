import type { BrowserContext, Page } from 'playwright-core';
import { launchBrowser } from '../test/browser.ts';
import { percentile } from './load.ts';
import { ORDER } from './merchant.ts';
import type { Figure } from './report.ts';
import type { BenchService } from './service.ts';

const ROUNDS = 3;
/** Fewer payments than a page of the list shows. */
const CHANGES = 20;
const LIMIT_MS = 1_500;
/** The longest pause between two changes, so that some come after a silence and some while changes are gathered. */
const MAX_PAUSE_MS = 1_500;
const WITHIN_MS = 20_000;

/** The people who have the tabs, and their addresses. */
interface Signed {
  readonly service: BenchService;
  /** The beginning of the addresses of the project's dashboard, test mode. */
  readonly site: string;
  /** The beginning of the addresses of its API. */
  readonly api: string;
  readonly cookie: string;
  /** The headers for the merchant's API. */
  readonly headers: Record<string, string>;
}

/** The time from a person's request that changes a payment until another person's list shows the change. */
export async function liveFigures(signed: Signed): Promise<readonly Figure[]> {
  const browser = await launchBrowser();
  try {
    const [acting, watching] = await Promise.all([
      tabOf(await browser.newContext()),
      tabOf(await browser.newContext()),
    ]);
    await acting.goto(signed.site);
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const orders = new Map<string, string>();
      for (let n = 10; n < 10 + CHANGES; n += 1) {
        const name = `LIVE-${round}-${n}`;
        orders.set(name, await makeOrder(signed, name));
      }
      await watching.goto(`${signed.site}/payments`);
      await watching.getByText('Up to date').waitFor();
      for (const [name, id] of orders) {
        await watching.getByRole('row', { name: new RegExp(name) }).waitFor();
        const shown = watching.evaluate<number>(untilShown(name));
        const sentAt = await acting.evaluate<number>(completing(`${signed.api}/payments/${id}/complete`));
        times.push((await shown) - sentAt);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * MAX_PAUSE_MS));
      }
    }
    const p95 = percentile(times, 0.95);
    return [
      {
        name: 'dashboard: a change in one tab is shown in the list of another, p95',
        measured: `${Math.round(p95)} ms (${Math.round(Math.min(...times))} to ${Math.round(Math.max(...times))}, ${times.length})`,
        target: `≤ ${LIMIT_MS} ms`,
        holds: p95 <= LIMIT_MS,
      },
    ];
  } finally {
    await browser.close();
  }

  async function tabOf(context: BrowserContext): Promise<Page> {
    await context.addCookies(
      signed.cookie.split('; ').map((pair) => {
        const [name = '', ...value] = pair.split('=');
        return { name, value: value.join('='), url: new URL('/', signed.site).href };
      }),
    );
    return context.newPage();
  }
}

async function makeOrder({ service, headers }: Signed, name: string): Promise<string> {
  const body = JSON.stringify({ ...(JSON.parse(ORDER) as object), order_id: name });
  const answer = await fetch(`${service.test}/v1/orders`, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(`An order was answered ${answer.status}.`);
  return ((await answer.json()) as { readonly id: string }).id;
}

/** Sends the request of the button as the page does; returns when, in epoch milliseconds. */
function completing(url: string): string {
  const options = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
  return `(async () => {
    const sentAt = performance.timeOrigin + performance.now();
    const answer = await fetch(${JSON.stringify(url)}, ${JSON.stringify(options)});
    if (!answer.ok) throw new Error('The change was answered ' + answer.status);
    return sentAt;
  })()`;
}

/** The time when the row was painted as completed, in epoch milliseconds. */
function untilShown(name: string): string {
  return `new Promise((done, failed) => {
    const startedAt = performance.now();
    const check = () => {
      const row = [...document.querySelectorAll('main tbody tr')].find((one) => one.textContent.includes(${JSON.stringify(name)}));
      if (row?.textContent.includes('Paid')) setTimeout(() => done(performance.timeOrigin + performance.now()));
      else if (performance.now() - startedAt > ${WITHIN_MS}) failed(new Error('${name} was not shown as completed.'));
      else requestAnimationFrame(check);
    };
    check();
  })`;
}
