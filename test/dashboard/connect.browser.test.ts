import { Client } from 'pg';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { receive, type LocalReceiver } from '../../src/webhooks/local-receivers.fixture.ts';
import { hasNoBrowser } from '../browser.ts';
import { WAIT } from '../deadline.ts';
import { overflowEnlarged, useDashboard, violations, EMAIL, PASSWORD } from './dashboard.fixture.ts';

const PERMISSIONS = [
  'btcpay.store.canviewinvoices',
  'btcpay.store.cancreateinvoice',
  'btcpay.store.canviewstoresettings',
  'btcpay.store.canmodifyinvoices',
  'btcpay.store.webhooks.canmodifywebhooks',
  'btcpay.store.cancreatenonapprovedpullpayments',
];
const PATH = '/?wc-api=wizard&secret=a%2Bb';

describe.skipIf(hasNoBrowser)('a shop whose plugin asks for a key', () => {
  const dashboard = useDashboard();
  let shop: LocalReceiver;
  beforeAll(async () => {
    shop = await receive((response) => {
      response.setHeader('content-type', 'text/html');
      response.end(
        '<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,">The key is saved.',
      );
    });
  });
  afterAll(() => shop.close());

  /** The address to which a plugin sends its merchant. */
  const wizard = (service: string, fields: Readonly<Record<string, string>> = {}): string => {
    const query = new URLSearchParams(PERMISSIONS.map((one): [string, string] => ['permissions', one]));
    const rest = { applicationName: 'Mara’s tea shop', strict: 'true', selectiveStores: 'true', ...fields };
    for (const [name, value] of Object.entries({ redirect: `http://127.0.0.1:${shop.port}${PATH}`, ...rest }))
      query.set(name, value);
    return `${service}/api-keys/authorize?${query.toString()}`;
  };
  /** The form that the shop got last, and the number of forms since a number of requests. */
  const posted = (since: number): readonly URLSearchParams[] =>
    shop.requests
      .slice(since)
      .filter(({ url, body }) => url === PATH && body !== '')
      .map(({ body }) => new URLSearchParams(body));
  const consent = (page: Page) => page.getByRole('button', { name: 'Create key and send it' });
  const statusOf = async (service: string, key: string): Promise<number> =>
    (await fetch(`${service}/v1/invoices`, { headers: { authorization: `Bearer ${key}` } })).status;
  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
  const makeProofOld = async (): Promise<void> => {
    const client = new Client({ connectionString: dashboard.service.database.url });
    await client.connect();
    await client.query(`update sessions set proved_at = now() - interval '11 minutes'`);
    await client.end();
  };

  it('gets a test key from the sandbox address after sign-in and consent', async () => {
    const { page } = await dashboard.openTab({ expects: /400/ });
    const { sandbox, projectId } = dashboard.service;
    const before = shop.requests.length;
    await page.goto(wizard(sandbox));
    await heading(page, 'Sign in').waitFor();
    await page.getByLabel('E-mail').fill(EMAIL);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await heading(page, 'Connect a shop').waitFor();
    await page.getByText(`127.0.0.1:${shop.port}`, { exact: true }).waitFor();
    await page.getByText('“Mara’s tea shop”').waitFor();
    await page.getByText('Test mode: the shop takes no real money.').waitFor();
    expect(await page.getByRole('listitem').count()).toBe(6);
    expect(await violations(page, 'connect')).toEqual([]);
    expect(await overflowEnlarged(page)).toBe(0);
    await consent(page).dblclick();
    await page.getByText('The key is saved.').waitFor();
    const [form, ...others] = posted(before);
    expect(others).toEqual([]);
    expect(form?.getAll('permissions[]')).toEqual(PERMISSIONS.map((one) => `${one}:${projectId}`));
    expect(form?.get('userId')).toMatch(/^[0-9a-f-]{36}$/);
    const key = form?.get('apiKey') ?? '';
    expect(key).toMatch(/^sk_test_\w+$/);
    expect(await statusOf(sandbox, key)).toBe(200);
    // The way back asks nothing: another key needs another question of the shop.
    await page.goBack();
    await page.getByText(/The key is on its way|does not know which shop/).waitFor();
    expect(await consent(page).count()).toBe(0);
    expect(posted(before)).toHaveLength(1);
  });

  it('shows on the page Keys where it connects, whether it gets messages, and its last call', async () => {
    const { page } = await dashboard.openSignedIn();
    const { service } = dashboard;
    const { projectId, sandbox } = service;
    const card = page.getByRole('region', { name: 'Connect a shop' });
    await page.goto(`${service.dashboard}/projects/${projectId}/test/keys`);
    await card.getByText(sandbox, { exact: true }).waitFor();
    await card.getByText(projectId, { exact: true }).waitFor();
    await card.getByText('None yet. The plugin adds its webhook when you connect it.').waitFor();
    const key = await service.command(
      `key create --project ${projectId} --mode test --kind secret --permission read --name Tea --json`,
    );
    await service.command(
      `webhook create --project ${projectId} --mode test --url http://127.0.0.1:${shop.port}/hook --events all --format greenfield --json`,
    );
    const headers = { authorization: `token ${String(Object(key)['key'])}`, 'content-type': 'application/json' };
    const body = '{"amount":"5.00","currency":"EUR"}';
    const invoice = await fetch(`${sandbox}/api/v1/stores/${projectId}/invoices`, { method: 'POST', headers, body });
    expect(invoice.status).toBe(403);
    // Calls are logged at intervals.
    await expect
      .poll(async () => {
        await page.reload();
        await card.getByText(/^None since|^Refused/).waitFor();
        return card.textContent();
      }, WAIT)
      .toMatch(/Refused with 403.* · Tea · .*payments:create/);
    await card.getByText(`127.0.0.1:${shop.port}`).getByText('On').waitFor();
    expect(await violations(page, 'Keys with a shop')).toEqual([]);
    expect(await overflowEnlarged(page)).toBe(0);
  });

  it('gets none if the merchant refuses, or the question is bad', async () => {
    const { page } = await dashboard.openSignedIn({ expects: /400/ });
    const before = shop.requests.length;
    await page.goto(wizard(dashboard.service.sandbox));
    await page.getByRole('button', { name: 'Refuse' }).click();
    await heading(page, 'Nothing was created').waitFor();
    expect(await violations(page, 'refused')).toEqual([]);
    for (const [redirect, said] of [
      ['javascript:alert(1)', 'which is not allowed'],
      ['http://shop.example/', 'must begin with https://'],
    ] as const) {
      await page.goto(wizard(dashboard.service.sandbox, { redirect }));
      await heading(page, 'This shop cannot be connected').waitFor();
      await page.getByText(said).waitFor();
      expect(await violations(page, 'a bad question')).toEqual([]);
    }
    expect(posted(before)).toEqual([]);
  });

  it('gets a live key from the live address, for the chosen project, after a fresh proof', async () => {
    // The last test here: a proof gives the session another token, which no later tab would have.
    const { page } = await dashboard.openSignedIn({ expects: /403/ });
    const { service } = dashboard;
    const { live } = service;
    const { id } = Object(await service.command('project create --name Second --json'));
    await makeProofOld();
    const before = shop.requests.length;
    await page.goto(wizard(live));
    await page.getByText('Live mode: the shop will take real payments.').waitFor();
    await consent(page).click();
    // No project is chosen for the merchant.
    expect(await page.locator('select:invalid').count()).toBe(1);
    await page.getByLabel('Project').selectOption({ label: 'Second' });
    await consent(page).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Password').fill(PASSWORD);
    expect(posted(before)).toEqual([]);
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('The key is saved.').waitFor();
    const [form, ...others] = posted(before);
    expect(others).toEqual([]);
    expect(form?.getAll('permissions[]')).toEqual(PERMISSIONS.map((one) => `${one}:${id}`));
    const key = form?.get('apiKey') ?? '';
    expect(key).toMatch(/^sk_live_\w+$/);
    expect(await statusOf(live, key)).toBe(200);
  });
});
