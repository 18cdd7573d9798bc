import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { createAccount, type DashboardInBrowser, type Tab, type TabOptions } from './dashboard.fixture.ts';

/** A tablet that a finger touches. */
export const TABLET = { hasTouch: true, viewport: { width: 820, height: 1180 } } as const;

let cashiers = 0;

/** Somebody with the role of a cashier, who has just made an account and stands at the till of a mode. */
export async function openCashier(
  dashboard: DashboardInBrowser,
  { mode = 'test', ...options }: TabOptions & { readonly mode?: 'test' | 'live' } = {},
): Promise<Tab & { readonly email: string }> {
  const { service, openTab } = dashboard;
  const email = `cashier-${(cashiers += 1)}@shop.example`;
  const invited = await service.command(
    `user invite --email ${email} --role cashier --project ${service.projectId} --json`,
  );
  const link = /https?:\/\/[^\s"]+\/setup\/[\w-]+/.exec(JSON.stringify(invited))?.[0];
  if (link === undefined) throw new Error(`There is no link in ${JSON.stringify(invited)}`);
  const tab = await openTab({ ...TABLET, ...options });
  await tab.page.goto(link);
  await createAccount(tab.page);
  await tab.page.getByRole('button', { name: 'Not now' }).click();
  // Cashiers land here, wherever the dashboard would send others.
  await tab.page.waitForURL(/\/till\?.*mode=live/);
  if (mode === 'test') await tab.page.getByLabel('Project and mode').selectOption('My shop (test)');
  await tap(tab.page, '1').waitFor();
  return { ...tab, email };
}

/** A button of the till by its name. */
export const tap = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' });

/** Types an amount with the keys, such as `1250` for 12.50. */
export async function typeAmount(page: Page, digits: string): Promise<void> {
  for (const digit of digits) await tap(page, digit).tap();
}

/** Taps `Charge`, and waits for the code. */
export async function charge(page: Page): Promise<void> {
  await tap(page, /^Charge/).tap();
  await page.getByRole('img', { name: /^QR code/ }).waitFor();
}

/** The id of the open sale, as the address has it. */
export function saleOf(page: Page): string {
  const id = new URL(page.url()).searchParams.get('sale');
  expect(id).toMatch(/^inv_/);
  return id ?? '';
}

/** Posts to the dashboard's API from a page of somebody who may. */
export async function post(page: Page, path: string, body: object): Promise<number> {
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  return page.evaluate<number>(`fetch('/dashboard/api/${path}', ${JSON.stringify(request)}).then((one) => one.status)`);
}
