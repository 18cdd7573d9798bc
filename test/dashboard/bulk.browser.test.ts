import { readFile } from 'node:fs/promises';
import { Client } from 'pg';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { useDashboard, violations } from './dashboard.fixture.ts';

const COPIES = 230;

describe.skipIf(hasNoBrowser)('several payments at once', () => {
  const dashboard = useDashboard();
  const base = () => `/dashboard/api/projects/${dashboard.service.projectId}/test`;
  const url = (query = '') =>
    `${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/test/payments${query}`;
  const row = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(name) });
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const labelsOf = (page: Page, id: string) =>
    page.evaluate<readonly string[]>(
      `fetch('${base()}/payments/${id}').then((answer) => answer.json()).then(({ labels }) => labels)`,
    );
  /** Adds the label to the selection by its dialog. */
  const label = async (page: Page, name: string): Promise<void> => {
    await button(page, 'Add label').click();
    await page.getByRole('combobox', { name: 'Label', exact: true }).fill(name);
    await page.keyboard.press('Enter');
  };
  let [first, second] = ['', ''];
  beforeAll(async () => {
    first = await dashboard.makeOrder({ order_id: 'BK-1' });
    second = await dashboard.makeOrder({ order_id: 'BK-2', currency: 'EUR' });
    const client = new Client({ connectionString: dashboard.service.database.url });
    await client.connect();
    const { rows } = await client.query<{ names: string }>(
      "select string_agg(column_name, ', ') as names from information_schema.columns where table_name = 'payments' and column_name not in ('id', 'address', 'merchant_order_id')",
    );
    const names = rows[0]?.names ?? '';
    await client.query(
      `insert into payments (id, address, merchant_order_id, ${names})
       select gen_random_uuid(), 'copy' || n, 'CP-' || n, ${names} from payments, generate_series(1, ${COPIES}) n
       where merchant_order_id = 'BK-1'`,
    );
    await client.end();
  });

  it('are chosen with the keyboard, counted, labelled, and it is undone', async () => {
    const { page } = await dashboard.openSignedIn();
    await page.goto(url('?search=bk'));
    await page.getByText(/2 found for “bk”, billed: .*49\.99 \+ .*49\.99/).waitFor();
    for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
    await page.getByText('2 selected').waitFor();
    expect(await violations(page, 'a selection')).toEqual([]);
    await button(page, 'Add label').click();
    expect(await violations(page, 'a label for a selection')).toEqual([]);
    await page.getByRole('combobox', { name: 'Label', exact: true }).fill('rush');
    await page.keyboard.press('Enter');
    await page.getByText('“rush” was added to 2 payments.').waitFor();
    expect(await violations(page, 'a labelled selection')).toEqual([]);
    expect([await labelsOf(page, first), await labelsOf(page, second)]).toEqual([['rush'], ['rush']]);
    // A payment that had it before keeps it when the rest is undone.
    await row(page, 'BK-1').getByRole('checkbox').uncheck();
    await label(page, 'vip');
    await page.getByText('“vip” was added to 1 payment.').waitFor();
    await row(page, 'BK-1').getByRole('checkbox').check();
    await label(page, 'vip');
    await page.getByText('“vip” was added to 1 payment. 1 payment already had the label.').waitFor();
    await button(page, 'Undo').click();
    await page.getByText('“vip” was removed from 1 payment.').waitFor();
    expect([await labelsOf(page, first), await labelsOf(page, second)]).toEqual([['rush'], ['rush', 'vip']]);
    // Another filter gives the selection up.
    await page.getByRole('searchbox').fill('cp-1');
    await row(page, 'BK-1').waitFor({ state: 'detached' });
    await row(page, 'CP-1').first().waitFor();
    expect(await page.getByText('selected').count()).toBe(0);
  });

  it('are chosen all, also those not loaded; what cannot be changed is named, and a lost connection goes on', async () => {
    const { page } = await dashboard.openSignedIn({ expects: /ERR_FAILED|400/ });
    await page.goto(url());
    await row(page, 'CP-1').first().waitFor();
    for (let made = 0; made < 20; made += 1) {
      const status = await page.evaluate<number>(
        `fetch('${base()}/payments/${first}/labels', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"label":"full ${made}"}' }).then(({ status }) => status)`,
      );
      expect([200, 400]).toContain(status);
    }
    await page.getByRole('checkbox', { name: 'Select all shown' }).check();
    await button(page, `Select all ${COPIES + 2}`).click();
    await page.getByText(`${COPIES + 2} selected`).waitFor();
    let sent = 0;
    await page.route(/\/test\/labels$/, async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      sent += 1;
      if (sent === 2) return route.abort();
      return route.continue();
    });
    await label(page, 'audit');
    await page.getByText(`Adding “audit”: 100 of ${COPIES + 2}`).waitFor();
    await page.getByText('The dashboard could not reach the server.').waitFor();
    expect(await violations(page, 'a change that was interrupted')).toEqual([]);
    await button(page, 'Continue').click();
    await page.getByText(`“audit” was added to ${COPIES + 1} payments.`).waitFor();
    await page.getByText('1 change failed:').waitFor();
    await page.getByText('already has 20 labels; remove one first').waitFor();
    await page.getByRole('link', { name: 'BK-1', exact: true }).waitFor();
    expect(await violations(page, 'a change that was done in part')).toEqual([]);
  });

  it('are exported alone', async () => {
    const { page } = await dashboard.openSignedIn();
    await page.goto(url('?search=bk'));
    await row(page, 'BK-2').getByRole('checkbox').check();
    await page.getByRole('group', { name: 'Selection' }).getByRole('button', { name: 'Export' }).click();
    await page.getByText('1 selected payment').waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Download').click()]);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain('BK-2');
  });
});
