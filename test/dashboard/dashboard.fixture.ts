import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import { Client } from 'pg';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, expect, onTestFinished } from 'vitest';
import { fillProject } from '../../bench/fill-project.ts';
import { DEADLINE_MS } from '../deadline.ts';
import type { Service } from '../e2e/payment-page-service.fixture.ts';
import { useServiceAndBrowser } from '../e2e/service-and-browser.fixture.ts';
import { isNight } from '../extent.ts';

export const EMAIL = 'mara@example.com';
export const PASSWORD = 'grumpy otter parade';
export const DESKTOP = { width: 1280, height: 860 };
export const PHONE = { width: 360, height: 740 };

/**
 * With `PAYMENTS=1000000` people walk through a project that has so many payments beside those of the tests, as they do
 * every night.
 */
export const PAYMENTS = Number(process.env['PAYMENTS'] ?? 0);
const FILLED_WITHIN_MS = 20 * 60_000;
export const isFilled = PAYMENTS > 0;

const AXE = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export interface Tab {
  readonly page: Page;
  readonly context: BrowserContext;
}

export interface TabOptions extends BrowserContextOptions {
  /** Messages on the console that the test provokes. */
  readonly expects?: RegExp;
}

/** The dashboard of the running program, in a real browser. */
export interface DashboardInBrowser {
  readonly service: Service;
  /**
   * Opens a tab that is closed when the test ends. The test fails if a script failed or anything was logged to the
   * console, such as a violation of the page's policy.
   */
  readonly openTab: (options?: TabOptions) => Promise<Tab>;
  /** The same, signed in as the owner. */
  readonly openSignedIn: (options?: TabOptions) => Promise<Tab>;
  /** A test order, paid in Bitcoin; its id. */
  readonly makeOrder: (fields?: Readonly<Record<string, unknown>>) => Promise<string>;
}

/** A service, its owner and a browser for the tests of a file. Call it at the top of a `describe`. */
export function useDashboard(
  options: {
    readonly hasOwner?: boolean;
    /** The program's settings, or a function where they name a node that is started first. */
    readonly settings?: Parameters<typeof useServiceAndBrowser>[0];
  } = {},
): DashboardInBrowser {
  const present = useServiceAndBrowser(options.settings);
  let cookies: Cookies = [];
  beforeAll(async () => {
    const { service } = present();
    if (options.hasOwner !== false) cookies = await createOwner(service);
    if (isFilled) await fill(service);
  }, FILLED_WITHIN_MS);
  const dashboard: DashboardInBrowser = {
    get service() {
      return present().service;
    },
    openTab: (given = {}) => openTab(present().browser, given),
    openSignedIn: async (given = {}) => {
      const tab = await openTab(present().browser, given);
      await tab.context.addCookies(cookies);
      return tab;
    },
    makeOrder: async (fields = {}) => {
      const order = { amount: 49.99, currency: 'USD', crypto_currency: 'BTC', ...fields };
      const { status, body } = await present().service.api('/v1/orders', order);
      expect(status).toBe(200);
      return String(body['id']);
    },
  };
  return dashboard;
}

async function fill({ api, database, projectId }: Service): Promise<void> {
  await api('/v1/orders', { amount: 49.99, currency: 'USD', crypto_currency: 'BTC' });
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    // Only what the tests do needs attention.
    await fillProject(client, projectId, PAYMENTS, { exception: "'none'" });
  } finally {
    await client.end();
  }
}

type Cookies = Parameters<BrowserContext['addCookies']>[0];

/** Uses the link like its page, without a browser: only the cookies are needed. */
async function createOwner({ dashboard, setupLink }: Service): Promise<Cookies> {
  const answer = await fetch(`${dashboard}/api/links/accept`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      origin: new URL(dashboard).origin,
      'sec-fetch-site': 'same-origin',
    },
    body: JSON.stringify({ token: setupLink.split('/').at(-1), email: EMAIL, password: PASSWORD }),
  });
  expect(answer.status).toBe(200);
  return answer.headers.getSetCookie().map((line) => {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    return { name, value, url: new URL(dashboard).origin, httpOnly: true, sameSite: 'Lax' };
  });
}

/** Gives the form of a link its password, up to the offer of a second factor. */
export async function createAccount(page: Page): Promise<void> {
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('button', { name: 'Not now' }).waitFor();
}

/** Signs in by e-mail and password, up to Home. */
export async function signIn(page: Page): Promise<void> {
  await page.getByLabel('E-mail').fill(EMAIL);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
}

async function openTab(browser: Browser, { expects, ...options }: TabOptions): Promise<Tab> {
  const context = await browser.newContext({ viewport: DESKTOP, locale: 'en-GB', ...options });
  context.setDefaultTimeout(DEADLINE_MS);
  const problems = new Set<string>();
  onTestFinished(async () => {
    await context.close();
    expect([...problems].filter((problem) => expects?.test(problem) !== true)).toEqual([]);
  });
  // Violations of the page's policy are logged there too.
  context.on('console', (message) => problems.add(`console: ${message.text()}`));
  context.on('weberror', (error) => problems.add(`error: ${error.error().stack}`));
  return { page: await context.newPage(), context };
}

const DRAWN = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
  .then(() => Promise.allSettled(document.getAnimations().map((one) => one.finished)))`;
/** Between the themes nothing but colours differs. */
const THEMES = [
  ['light', ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']],
  ['dark', { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }],
] as const;
type RunOnly = (typeof THEMES)[number][1];
const SIZES = [DESKTOP, PHONE];

/**
 * The faults that axe finds in the current page, and places where it is too wide. Axe checks a phone in the light
 * theme; at night also a desktop and both themes.
 */
export async function violations(page: Page, what: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const size of SIZES) {
    await page.setViewportSize(size);
    // On a page that is scrolled, the bar at its top covers parts of controls.
    await page.evaluate('scrollTo(0, 0)');
    const themes = isNight ? THEMES : size === PHONE ? THEMES.slice(0, 1) : [];
    for (const [colorScheme, runOnly] of themes) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      // Elements that fade in have less contrast until they are opaque.
      await page.evaluate(DRAWN);
      const seen = await axeFaults(page, runOnly);
      // Chromium may draw one more frame in the previous colours, so only lasting faults count.
      const faults = seen.length === 0 ? [] : await page.evaluate(DRAWN).then(() => axeFaults(page, runOnly));
      found.push(...faults.map((fault) => `${what}, ${size.width} px, ${colorScheme}: ${fault}`));
    }
    // A width that is read while the page is drawn anew may be one pixel off.
    const drawn = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))';
    const overflow = await page.evaluate<number>(
      `${drawn}.then(() => document.documentElement.scrollWidth - innerWidth)`,
    );
    if (overflow > 0) found.push(`${what}: ${overflow} px wider than ${size.width} px`);
    found.push(...(await misplaced(page)).map((one) => `${what}, ${size.width} px: ${one}`));
  }
  await page.setViewportSize(DESKTOP);
  await page.emulateMedia({ colorScheme: 'light' });
  return found;
}

/** By how many pixels the page is too wide for a phone of 390 px whose text is enlarged to 200 %. */
export function overflowEnlarged(page: Page): Promise<number> {
  return overflowAt(page, { width: 195, height: 420 });
}

/** By how many pixels the page is too wide for a window. */
export async function overflowAt(
  page: Page,
  size: { readonly width: number; readonly height: number },
): Promise<number> {
  await page.setViewportSize(size);
  // A width that is read while the page is drawn anew may be some pixels off.
  const drawn = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))';
  const overflow = await page.evaluate<number>(
    `${drawn}.then(() => document.documentElement.scrollWidth - innerWidth)`,
  );
  await page.setViewportSize(DESKTOP);
  return overflow;
}

/** Content that has no room beside the navigation, and controls that stand out of their dialog. */
function misplaced(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(`(() => {
    const main = document.querySelector('main#main');
    const dialogs = [...document.querySelectorAll('[role=dialog], [role=alertdialog]')];
    const out = dialogs.flatMap((dialog) => {
      const { left, right } = dialog.getBoundingClientRect();
      const controls = [...dialog.querySelectorAll('button, input, select, textarea')];
      return controls.filter((one) => {
        const box = one.getBoundingClientRect();
        return box.width > 1 && (box.left < left - 1 || box.right > right + 1);
      });
    });
    return [
      ...(main !== null && main.clientWidth < innerWidth / 2 ? ['the content is ' + main.clientWidth + ' px wide'] : []),
      ...out.map((one) => (one.getAttribute('aria-label') ?? one.textContent) + ' stands out of its dialog'),
    ];
  })()`);
}

async function axeFaults(page: Page, runOnly: RunOnly): Promise<readonly string[]> {
  // Only where it is needed: every page that is loaded would take longer. Like the debugger, it bypasses the policy.
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(`${await AXE}; undefined`);
  // Menus are outside of all landmarks because they cover them.
  const hasMenu = (await page.getByRole('menu').count()) > 0;
  const rules = hasMenu ? { region: { enabled: false } } : {};
  // No rule of these needs the style sheets once more.
  const options = { runOnly, resultTypes: ['violations'], rules, preload: false };
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
  return violations.map(({ id, nodes }) => {
    const where = nodes.map(({ target, failureSummary }) => `${target.join(' ')} (${failureSummary})`);
    return `${id}: ${where.join('; ')}`;
  });
}
