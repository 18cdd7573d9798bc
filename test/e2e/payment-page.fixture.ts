import { once } from 'node:events';
import http, { type RequestListener } from 'node:http';
import type { Browser, BrowserContext, BrowserContextOptions, FrameLocator, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import type { Simulation } from '../../src/domain/simulation.ts';
import { textAt } from '../../src/cli/program.fixture.ts';
import { decodeId, parseUuid } from '../../src/domain/id.ts';
import type { Payment } from '../../src/domain/payment.ts';
import { ENGLISH, type TextKey } from '../../src/http/checkout/language/locale.ts';
import { lockPayments } from '../../src/store/payments/payments.ts';
import { saveChanges } from '../../src/store/payments/save-changes.ts';
import { launchBrowser } from '../browser.ts';
import type { TestDatabase } from '../database.ts';
import { eventually, freePort, type Answer } from '../program.ts';
import type { Service } from './payment-page-service.fixture.ts';
import { useServiceAndBrowser } from './service-and-browser.fixture.ts';
import { DEADLINE_MS } from '../deadline.ts';

/** The name that the first start gives its project. */
export const SHOP = 'My shop';

type Fields = Readonly<Record<string, unknown>>;

/** A payment as its creation answers it. */
export interface Made {
  readonly id: string;
  readonly url: string;
}

/** A tab of its own, with everything that went wrong in it. */
export interface Tab {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Addresses that the tab itself, not one of its frames, was led to. */
  readonly navigations: readonly string[];
}

export interface TabOptions extends BrowserContextOptions {
  /** Other origins that the tab may ask: shops of the test. */
  readonly alsoAsks?: readonly string[];
  /** Messages that may be on the console, or requests that may fail, because the test causes them. */
  readonly expects?: RegExp;
}

/** The payment page in a browser. */
export interface Checkout {
  readonly service: Service;
  /**
   * Opens a tab that is closed when the test ends. The test fails when anything was said on the console, such as a
   * breach of the page's policy, a request failed, or one went to another host.
   */
  readonly openTab: (options?: TabOptions) => Promise<Tab>;
  /** A test transaction, or an order where `crypto_currency` is given. */
  readonly pay: (fields?: Fields) => Promise<Made>;
  readonly read: (payment: Made) => Promise<Fields>;
  /** Simulates what the buttons of the test band do, from elsewhere. */
  readonly simulate: (payment: Made, outcome: Simulation) => Promise<void>;
  /** Moves the payment as the rail's worker would: in the database, told to every process. */
  readonly move: (payment: Made, change: (payment: Payment) => Payment) => Promise<void>;
  /** Gives the payment other times than a customer would have to wait for. */
  readonly setTimes: (payment: Made, times: Times) => Promise<void>;
}

interface Times {
  readonly expires_at?: Date;
  readonly completed_at?: Date;
  readonly completes_at?: Date | null;
  readonly due_at?: Date | null;
}

/** A service and a browser for the tests of a file. Call it at the top of a `describe`. */
export function useCheckout(settings: Readonly<Record<string, string>> = {}): Checkout {
  const present = useServiceAndBrowser(settings);
  return {
    get service() {
      return present().service;
    },
    openTab: (options = {}) => {
      const { browser, service } = present();
      return openTab(browser, [service.sandbox, service.live], options);
    },
    pay: (fields = {}) => pay(present().service.api, fields),
    read: async ({ id }) => {
      const { api } = present().service;
      const isOrder = id.startsWith('ord_');
      const { status, body } = await api(isOrder ? `/v1/orders/${id}` : `/api/transactions/${id}`);
      expect(status).toBe(200);
      return isOrder ? body : Object(body['transaction']);
    },
    simulate: async ({ url }, outcome) => {
      const form = { method: 'POST', body: new URLSearchParams({ outcome }), redirect: 'manual' } as const;
      const { status } = await fetch(`${url}/simulate`, form);
      expect(status).toBe(303);
    },
    move: (payment, change) => movePayment(present().service.database, payment, change),
    setTimes: async (payment, times) => {
      const { db } = present().service.database;
      await db.updateTable('payments').set(times).where('id', '=', rowId(payment)).execute();
    },
  };
}

/** A browser alone, for pages that the test serves itself. Call it at the top of a `describe`. */
export function useBrowser(): (options?: TabOptions) => Promise<Tab> {
  let browser: Browser | null = null;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());
  return (options = {}) => {
    if (browser === null) throw new Error('The browser is there in tests alone.');
    return openTab(browser, [], options);
  };
}

/** Creates a payment of test mode: a transaction, or an order where `crypto_currency` is given. */
export async function pay(api: (path: string, body?: object) => Promise<Answer>, fields: Fields): Promise<Made> {
  const isOrder = 'crypto_currency' in fields;
  const given = { amount: 49.99, ...(isOrder ? { currency: 'USD' } : {}), ...fields };
  const { body } = await api(isOrder ? '/v1/orders' : '/api/transactions/create', given);
  const made = isOrder ? body : body['transaction'];
  return { id: textAt(made, 'id'), url: textAt(made, 'payment_url') };
}

function rowId({ id }: Made): string {
  return decodeId('order', id) ?? decodeId('invoice', id) ?? parseUuid(id) ?? '';
}

async function movePayment({ db }: TestDatabase, made: Made, change: (payment: Payment) => Payment): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const changes = (await lockPayments(trx, [rowId(made)])).map((before) => ({
      before,
      after: change(before),
      // Nothing is due, because the worker would change it too.
      dueAt: null,
      transitions: [],
      events: [],
    }));
    expect(changes).toHaveLength(1);
    await saveChanges(trx, changes, 2);
  });
}

async function openTab(browser: Browser, own: readonly string[], options: TabOptions): Promise<Tab> {
  const { alsoAsks = [], expects, ...contextOptions } = options;
  const context = await browser.newContext({ viewport: { width: 360, height: 740 }, ...contextOptions });
  context.setDefaultTimeout(DEADLINE_MS);
  const problems = new Set<string>();
  const navigations: string[] = [];
  onTestFinished(async () => {
    await context.close();
    expect([...problems].filter((problem) => expects?.test(problem) !== true)).toEqual([]);
  });
  context.on('console', (message) => problems.add(`console: ${message.text()}`));
  context.on('weberror', (error) => problems.add(`error: ${error.error().message}`));
  context.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    const isOwn = protocol === 'data:' || own.includes(origin) || alsoAsks.includes(origin);
    if (!isOwn) problems.add(`asks another host: ${request.url()}`);
  });
  context.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? '';
    // A page that is closed cancels its own requests.
    if (reason !== 'net::ERR_ABORTED') problems.add(`failed: ${request.url()}: ${reason}`);
  });
  const page = await context.newPage();
  page.on('framenavigated', (frame) => {
    if (frame === page.mainFrame()) navigations.push(frame.url());
  });
  return { context, page, navigations };
}

/** A web site of the test's own, such as a shop; it closes when the test ends. */
export async function serveSite(listener: RequestListener, host = 'localhost'): Promise<string> {
  const port = await freePort();
  const server = http.createServer(listener);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://${host}:${port}`;
}

/** A shop's site that knows no more than its pages' titles: their paths with queries. */
export function plainSite(): Promise<string> {
  return serveSite((request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(`<!doctype html><link rel="icon" href="data:,"><title>${request.url}</title>`);
  });
}

/** An English text of the pages as it is read: with its values, without its emphasis. */
export function say(key: TextKey, values: Readonly<Record<string, string>> = {}): string {
  return ENGLISH.texts[key].replaceAll(/<\/?b>/g, '').replaceAll(/\{(\w+)\}/g, (_placeholder, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`The text ${key} asks for ${name}.`);
    return value;
  });
}

/** The text up to its first value, for texts whose values are times. */
export function beginningOf(key: TextKey): string {
  return ENGLISH.texts[key].split('{')[0] ?? '';
}

/** Waits until the page shows texts, to the eye: what only screen readers are told does not count. */
export function sees(page: Page, ...texts: readonly string[]): Promise<unknown> {
  return Promise.all(texts.map((text) => shown(page, text).waitFor()));
}

/** Whether the page shows a text now. */
export function isShown(page: Page, text: string): Promise<boolean> {
  return shown(page, text).isVisible();
}

function shown(page: Page, text: string): Locator {
  return page.locator('body > :not(#announcer)').getByText(text).filter({ visible: true }).first();
}

/** The amount and address that the page shows; the groups of the address are the address, letter for letter. */
export async function shownPayment(page: Page): Promise<{ readonly amount: string; readonly address: string }> {
  const amount = page.locator('[data-amount]');
  const address = page.locator('[data-address]');
  await address.waitFor();
  const grouped = (await address.innerText()).replaceAll(/\s/g, '');
  expect(grouped).toBe(await address.getAttribute('data-address'));
  expect(await amount.innerText()).toBe(await amount.getAttribute('data-amount'));
  return { amount: await amount.innerText(), address: grouped };
}

/** Simulates with the form of the test banner, on the page or in a frame of it. */
export async function press(page: Page | FrameLocator, key: `simulate_${Simulation}`, text = say): Promise<void> {
  await page.locator('#outcome').selectOption({ label: text(key) });
  await page.getByRole('button', { name: text('simulate'), exact: true }).click();
  // Until then a second click would be ignored as a double click.
  await page.locator('[aria-busy]').waitFor({ state: 'detached' });
}

/** Waits until something holds. */
export function until(what: string, holds: () => boolean | Promise<boolean>): Promise<true> {
  return eventually(what, async () => ((await holds()) ? true : null));
}
