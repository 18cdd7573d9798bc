import { createRequire } from 'node:module';
import fastify from 'fastify';
import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { assetRoutes, loadAssets } from '../../src/http/pages/assets.ts';
import { docsRoutes } from '../../src/http/docs/routes.ts';
import { hasNoBrowser, launchBrowser } from '../browser.ts';
import { portOf } from '../socket.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const PHONE = { width: 390, height: 844 };
/** A page of each kind: with a wide table, with much code, the reference, and a search with and without results. */
const PAGES = [
  '/docs/settings',
  '/docs/webhooks',
  '/docs/command-line',
  '/docs/first-payment',
  '/docs/api',
  '/docs/search?q=webhook',
  '/docs/search?q=xylophone',
];
const DESKTOP = { width: 1280, height: 900 };

describe.skipIf(hasNoBrowser)('the documentation', () => {
  const server = fastify();
  let browser: Browser;
  beforeAll(async () => {
    const assets = await loadAssets();
    assetRoutes(server, assets);
    docsRoutes({ baseUrls: { live: 'https://api.example', test: 'https://sandbox.api.example' }, assets })(server);
    await server.listen({ host: '127.0.0.1', port: 0 });
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await server.close();
  });

  /** Opens the page. `problems` are the browser's complaints, above all about a breach of the policy. */
  async function open(options: BrowserContextOptions, path = '/docs') {
    const context = await browser.newContext(options);
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('request', (request) => {
      const { host } = new URL(request.url());
      if (host !== '' && host !== `127.0.0.1:${portOf(server)}`) problems.push(request.url());
    });
    await page.goto(`http://127.0.0.1:${portOf(server)}${path}`);
    return { page, problems };
  }

  it.each([
    ['a phone, light', { viewport: PHONE, colorScheme: 'light' }],
    ['a phone, dark', { viewport: PHONE, colorScheme: 'dark' }],
    ['a desktop, light', { viewport: DESKTOP, colorScheme: 'light' }],
    ['a desktop, dark', { viewport: DESKTOP, colorScheme: 'dark' }],
    ['a phone without JavaScript', { viewport: PHONE, javaScriptEnabled: false }],
    ['a desktop without JavaScript', { viewport: DESKTOP, javaScriptEnabled: false }],
  ] as const)('opens on the quickstart, fits and breaks no rule of its policy on %s', async (_name, options) => {
    const { page, problems } = await open(options);
    expect(await page.locator('main h2').first().textContent()).toBe('Quickstart');
    expect(await page.locator('main h2').first().boundingBox()).toMatchObject({ y: expect.any(Number) });
    const background = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(background).toBe(
      'colorScheme' in options && options.colorScheme === 'dark' ? 'rgb(14, 20, 18)' : 'rgb(244, 246, 245)',
    );
    for (const path of ['', ...PAGES]) {
      if (path !== '') await page.goto(`http://127.0.0.1:${portOf(server)}${path}`);
      expect([path, await page.evaluate('document.documentElement.scrollWidth - innerWidth')]).toEqual([path, 0]);
    }
    expect(problems).toEqual([]);
  });

  it.each([
    ['a phone', PHONE],
    ['a desktop', DESKTOP],
  ])('has nothing that axe finds on %s, in either theme', async (_name, viewport) => {
    // Between the themes nothing but colours differs.
    for (const [colorScheme, run] of [
      ['light', 'axe.run()'],
      ['dark', "axe.run({ runOnly: ['color-contrast', 'link-in-text-block'] })"],
    ] as const) {
      const { page } = await open({ viewport, colorScheme, bypassCSP: true });
      for (const path of ['/docs', ...PAGES]) {
        await page.goto(`http://127.0.0.1:${portOf(server)}${path}`);
        await page.addScriptTag({ path: AXE });
        const { violations } = await page.evaluate<AxeResults>(run);
        expect(violations.map(({ id, nodes }) => `${path} ${id}: ${nodes[0]?.html}`)).toEqual([]);
      }
    }
  });

  it('can be worked by keyboard: skip to the content, filter the contents, copy a request', async () => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const { page, problems } = await open({ viewport: DESKTOP, permissions }, '/docs/api');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
    await page.keyboard.press('/');
    await page.keyboard.type('cancel ref');
    const links = page.locator('#contents a:visible');
    expect(await links.allTextContents()).toEqual(['POSTCancel an unpaid refund']);
    await links.first().press('Enter');
    expect(new URL(page.url()).hash).toBe('#cancelRefund');
    const copy = page.locator('#createOrder figure button').first();
    await copy.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => copy.textContent()).toBe('Copied');
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(
      /^curl "https:\/\/sandbox\.api\.example\/v1\/orders"/,
    );
    expect(problems).toEqual([]);
  });

  it('folds its contents on a phone, and folds them again when one is chosen', async () => {
    const { page } = await open({ viewport: PHONE }, '/docs/api');
    const contents = page.locator('#contents');
    expect(await contents.getAttribute('open')).toBeNull();
    await contents.locator('summary').click();
    await contents.locator('a', { hasText: 'Create an order' }).click();
    expect(await contents.getAttribute('open')).toBeNull();
    expect(new URL(page.url()).hash).toBe('#createOrder');
  });

  it.each([
    ['with', true],
    ['without', false],
  ])('searches from any page %s a script', async (_name, javaScriptEnabled) => {
    const { page, problems } = await open({ viewport: PHONE, javaScriptEnabled }, '/docs/settings');
    await page.getByRole('searchbox', { name: 'Search the documentation' }).fill('verify a signature');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.locator('main li a').first().click();
    expect(new URL(page.url()).pathname + new URL(page.url()).hash).toBe('/docs/webhooks#verify-a-signature');
    expect(problems).toEqual([]);
  });

  it('follows links to anchors that were at /docs before the reference had a page of its own', async () => {
    const { page } = await open({ viewport: DESKTOP }, '/docs#createOrder');
    await page.waitForURL('**/docs/api#createOrder');
    await page.goto(`http://127.0.0.1:${portOf(server)}/docs#quickstart`);
    await page.keyboard.press('/');
    expect(await page.evaluate('document.activeElement.id')).toBe('q');
    expect(new URL(page.url()).pathname).toBe('/docs');
  });
});
