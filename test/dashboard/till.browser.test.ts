import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { PASSWORD, useDashboard, violations } from './dashboard.fixture.ts';
import { charge, openCashier, post, saleOf, TABLET, tap, typeAmount } from './till.fixture.ts';

describe.skipIf(hasNoBrowser)('The till', () => {
  const dashboard = useDashboard();
  const till = () => new URL('/till', dashboard.service.dashboard).href;
  const project = () => `projects/${dashboard.service.projectId}`;

  /** A tab of the owner, who chooses outcomes of test payments. */
  async function openOwner(): Promise<Page> {
    const { page } = await dashboard.openSignedIn();
    await page.goto(`${dashboard.service.dashboard}/${project()}/test`);
    return page;
  }
  const simulate = async (owner: Page, sale: string, outcome: string): Promise<void> =>
    expect(await post(owner, `${project()}/test/payments/${sale}/simulate`, { outcome })).toBe(200);
  const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true });

  it('takes ten sales by touch, through a reload and a lost connection, and adds up those that were paid', async () => {
    const owner = await openOwner();
    expect(await post(owner, `${project()}/settings/till`, { seen_below: '20', currency: 'USD', tips: true })).toBe(
      200,
    );
    const { page, context } = await openCashier(dashboard, { expects: /ERR_INTERNET_DISCONNECTED|status of 400/ });
    expect(await page.getByLabel('Test mode').isVisible()).toBe(true);
    expect(await violations(page, 'the empty till')).toEqual([]);
    await page.setViewportSize(TABLET.viewport);

    // 1: seen below the limit counts at once, and says so; then it is confirmed.
    await typeAmount(page, '1250');
    await tap(page, /^10/).tap();
    await tap(page, 'Charge $13.75').waitFor();
    expect(await violations(page, 'an amount')).toEqual([]);
    await charge(page);
    expect(await violations(page, 'a code')).toEqual([]);
    const first = saleOf(page);
    await simulate(owner, first, 'confirming');
    await heading(page, 'Paid').waitFor();
    await page.getByText(/^Seen on the network, without a doubtful sign/).waitFor();
    expect(await violations(page, 'paid by seen money')).toEqual([]);
    await simulate(owner, first, 'paid');
    await page.getByText('Confirmed on the network.').waitFor();
    expect(await violations(page, 'paid by confirmed money')).toEqual([]);
    await tap(page, 'New sale').tap();

    const finish = async (): Promise<void> => {
      await simulate(owner, saleOf(page), 'paid');
      await heading(page, 'Paid').waitFor();
      await tap(page, 'New sale').tap();
    };
    const becomes = async (digits: string, outcome: string, title: string): Promise<void> => {
      await typeAmount(page, digits);
      await charge(page);
      await simulate(owner, saleOf(page), outcome);
      await heading(page, title).waitFor();
      expect(await violations(page, outcome)).toEqual([]);
    };
    const ends = async (...given: Parameters<typeof becomes>): Promise<void> => {
      await becomes(...given);
      await tap(page, 'New sale').tap();
    };
    // 2: above the limit, seen money waits. 3: a part, and then the rest.
    await becomes('2100', 'confirming', 'Seen, not paid yet');
    await finish();
    await becomes('500', 'part', 'Part of the money came');
    await finish();

    // 4: another coin.
    await typeAmount(page, '700');
    await charge(page);
    await tap(page, 'Other coin').tap();
    expect(await violations(page, 'the choice of a coin')).toEqual([]);
    await tap(page, 'USDT on Polygon').tap();
    await page.getByText(/USDT$/).waitFor();
    await finish();

    // 5: cancelled, and back at the keys.
    await typeAmount(page, '100');
    await charge(page);
    const cancelled = saleOf(page);
    await tap(page, 'Cancel sale').tap();
    await tap(page, 'Charge').waitFor();

    // 6: a reload comes back to the sale, which is paid meanwhile.
    await typeAmount(page, '800');
    await charge(page);
    const reloaded = saleOf(page);
    await page.reload();
    await page.getByRole('img', { name: /^QR code/ }).waitFor();
    expect(saleOf(page)).toBe(reloaded);
    await finish();

    // 7: charged without a connection: made once, when it is back.
    await typeAmount(page, '900');
    await context.setOffline(true);
    await tap(page, /^Charge/).tap();
    await page.getByText(/The till keeps trying, and makes the sale only once/).waitFor();
    expect(await violations(page, 'no connection')).toEqual([]);
    await context.setOffline(false);
    await page.getByRole('img', { name: /^QR code/ }).waitFor();
    // The connection is lost again while the money comes.
    await context.setOffline(true);
    await simulate(owner, saleOf(page), 'paid');
    await context.setOffline(false);
    await heading(page, 'Paid').waitFor();
    await tap(page, 'New sale').tap();

    // 8: too much. 9: too late. 10: not at all.
    await ends('300', 'over', 'Paid');
    await ends('400', 'late', 'Not paid');
    await ends('600', 'expired', 'Not paid');

    await tap(page, 'Today').tap();
    await page.getByText('7 sales paid, of it $1.25 tips').waitFor();
    expect(await violations(page, 'today')).toEqual([]);
    expect(await page.getByText('$66.75').count()).toBe(1);
    const sales = page.getByRole('list').last().getByRole('button');
    expect(await sales.count()).toBe(10);
    await sales.filter({ hasText: '$1.00' }).tap();
    await heading(page, 'Cancelled').waitFor();
    expect(saleOf(page)).toBe(cancelled);
  });

  it('keeps the open sale when its session ends, and shows nothing of it to another cashier', async () => {
    const owner = await openOwner();
    const { page, context, email } = await openCashier(dashboard, { expects: /status of (401|404)/ });
    await typeAmount(page, '1000');
    await charge(page);
    const sale = saleOf(page);
    await context.clearCookies();
    await tap(page, 'Other coin').tap();
    await tap(page, 'USDC on Polygon').tap();
    const dialog = page.getByRole('dialog', { name: 'You are signed out' });
    await dialog.getByLabel('Password').fill(PASSWORD);
    expect(await violations(page, 'signed out')).toEqual([]);
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(saleOf(page)).toBe(sale);
    await simulate(owner, sale, 'paid');
    await heading(page, 'Paid').waitFor();

    // Signed out for good, the address leads through the sign-in and back to the sale.
    await context.clearCookies();
    await page.goto(`${till()}?project=${dashboard.service.projectId}&mode=test&sale=${sale}`);
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await heading(page, 'Paid').waitFor();

    const other = await openCashier(dashboard, { expects: /status of 40[34]/ });
    await other.page.goto(`${till()}?project=${dashboard.service.projectId}&mode=test&sale=${sale}`);
    await tap(other.page, 'Back to the till').waitFor();
    await tap(other.page, 'Today').tap();
    await other.page.getByText('No sales yet today.').waitFor();
    // The account is the only page of the dashboard that a cashier has.
    await other.page.goto(`${dashboard.service.dashboard}/${project()}/test/payments`);
    await heading(other.page, 'You don’t have access to this page').first().waitFor();
    await other.page.goto(`${dashboard.service.dashboard}/account`);
    await other.page.getByRole('link', { name: 'Till' }).click();
    await tap(other.page, 'Charge').waitFor();
  });

  it('prints a receipt 80 mm wide, installs as an app, and is as strict about scripts as the dashboard', async () => {
    const owner = await openOwner();
    const { page } = await openCashier(dashboard);
    await typeAmount(page, '450');
    await page.getByLabel('Note').fill('Table 4');
    await charge(page);
    await simulate(owner, saleOf(page), 'paid');
    await heading(page, 'Paid').waitFor();
    await page.emulateMedia({ media: 'print' });
    await page.getByText('Test payment. No money was paid.').waitFor();
    expect(await page.getByText('Table 4').last().isVisible()).toBe(true);
    expect(await tap(page, 'New sale').isVisible()).toBe(false);
    const pdf = await page.pdf({ preferCSSPageSize: true });
    expect(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)).toHaveLength(1);
    await page.emulateMedia({ media: 'screen' });

    const answer = await fetch(till());
    const policy = answer.headers.get('content-security-policy') ?? '';
    const ofDashboard = (await fetch(dashboard.service.dashboard)).headers.get('content-security-policy');
    expect(policy).toBe(`${ofDashboard}; manifest-src 'self'`);
    const href = /rel="manifest" href="([^"]+)"/.exec(await answer.text())?.[1] ?? '';
    const manifest = await fetch(new URL(href, till()));
    expect(manifest.headers.get('content-type')).toBe('application/manifest+json');
    const app = (await manifest.json()) as {
      readonly icons: readonly { readonly src: string; readonly sizes: string }[];
    };
    expect(app).toMatchObject({ start_url: '/till', display: 'standalone', theme_color: '#0b6b5b' });
    for (const { src, sizes } of app.icons) {
      const icon = Buffer.from(await (await fetch(new URL(src, till()))).arrayBuffer());
      expect(`${icon.readUInt32BE(16)}x${icon.readUInt32BE(20)}`).toBe(sizes);
    }
  });

  it('is set up by an owner, who may use it too', async () => {
    const { page } = await dashboard.openSignedIn({ ...TABLET, expects: /status of 400/ });
    await page.goto(`${dashboard.service.dashboard}/${project()}/test/settings`);
    const card = page.getByRole('region', { name: 'Till' });
    await card.getByLabel('Seen money counts below (USD)').fill('0');
    await card.getByRole('button', { name: 'Save till settings' }).click();
    await card.getByText(/^The limit of the till must be/).waitFor();
    expect(await violations(page, 'the card of the till')).toEqual([]);
    await card.getByLabel('Seen money counts below (USD)').fill('25');
    await card.getByLabel('Tips').selectOption('off');
    await card.getByRole('button', { name: 'Save till settings' }).click();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('link', { name: 'Till' }).click();
    await tap(page, 'Charge').waitFor();
    expect(await page.getByRole('group', { name: 'Tip' }).count()).toBe(0);
    await page.getByLabel('Project and mode').selectOption('My shop');
    await page.getByLabel('Test mode').waitFor({ state: 'detached' });
    await page.getByText(/^This project cannot be paid in any coin yet/).waitFor();
    expect(await violations(page, 'a till without coins')).toEqual([]);
  });
});
