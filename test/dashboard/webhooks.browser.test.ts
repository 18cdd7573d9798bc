import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { shop } from '../../src/app/webhooks/webhooks.fixture.ts';
import { skipPositions } from '../../src/store/webhooks/event-positions.ts';
import { hasNoBrowser } from '../browser.ts';
import { useDashboard, violations } from './dashboard.fixture.ts';

const SCRIPT = '<img src=x onerror="document.title=1">';

describe.skipIf(hasNoBrowser)('Webhooks, Events and Requests', () => {
  const dashboard = useDashboard();
  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
  const panel = (page: Page) => page.getByRole('complementary', { name: 'Delivery' });

  /** Chooses an action of the only endpoint. */
  const act = async (page: Page, name: string): Promise<void> => {
    await page.getByRole('button', { name: /^Actions for/ }).click();
    await page.getByRole('menuitem', { name }).click();
  };

  it('take an endpoint from its secret to a delivery that arrives, and show a hostile answer as text', async () => {
    let status = 401;
    const receiver = await shop((response) =>
      response.writeHead(status, { 'x-note': SCRIPT, 'content-type': 'text/html' }).end(`<script>${SCRIPT}</script>`),
    );
    const { page } = await dashboard.openSignedIn({ expects: /status of 400/ });
    await page.goto(`${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/test`);
    await page.getByText('Up to date').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('w');
    await heading(page, 'Webhooks').waitFor();
    await page.getByRole('heading', { name: 'No endpoint yet' }).waitFor();
    expect(await page.getByRole('button', { name: 'Retry all' }).count()).toBe(0);
    expect(await violations(page, 'Webhooks without an endpoint')).toEqual([]);

    await page.getByRole('button', { name: 'Add endpoint' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill('https://user:word@shop.example/');
    await dialog.getByRole('button', { name: 'Add endpoint' }).click();
    await dialog.getByText(/user name|password/i).waitFor();
    expect(await violations(page, 'the form of an endpoint')).toEqual([]);
    await dialog.getByLabel('URL').fill(receiver.url);
    await dialog.getByRole('button', { name: 'Add endpoint' }).click();
    const secret = (await dialog.getByText(/^whsec_/).textContent()) ?? '';
    await dialog.getByLabel('Language of your server').selectOption('PHP');
    await dialog.getByText('hash_equals').waitFor();
    await dialog.getByRole('button', { name: 'I have saved it' }).click();
    expect(await page.content()).not.toContain(secret);

    await page.getByRole('button', { name: 'Send test event' }).click();
    await dialog.getByLabel('Event').selectOption('refund.completed');
    await dialog.getByRole('button', { name: 'Send test event' }).click();
    await panel(page).getByText('Likely cause').waitFor();
    await panel(page)
      .getByText(/^next try \d/)
      .waitFor();
    await page.getByText(/^Failing since \d/).waitFor();
    await panel(page).getByText(`<script>${SCRIPT}</script>`).first().waitFor();
    await panel(page).getByText(SCRIPT, { exact: true }).first().waitFor();
    expect(await panel(page).getByLabel('Body', { exact: true }).textContent()).toBe(receiver.requests[0]?.body);
    expect(await violations(page, 'a delivery that was refused')).toEqual([]);
    expect(await page.title()).not.toBe('1');

    status = 200;
    await panel(page).getByRole('button', { name: 'Retry' }).click();
    await panel(page).getByText('delivered').waitFor();
    await page.getByText('Sent again. The endpoint responded with 200.').waitFor();
    await page.getByText('On', { exact: true }).waitFor();
  });

  it('follow what is sent without moving a row, send all again that did not arrive, and show the bytes of an event', async () => {
    const { page } = await dashboard.openSignedIn();
    await page.goto(`${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/test/webhooks`);
    await page.getByText('Up to date').waitFor();
    // The receiver of the test before is gone.
    await page.getByRole('table', { name: 'Deliveries' }).waitFor();
    await page.getByRole('table', { name: 'Deliveries' }).hover();
    await dashboard.makeOrder({ order_id: SCRIPT });
    await page.getByRole('button', { name: '1 new' }).click();
    await page.getByRole('button', { name: 'order.created' }).click();
    await panel(page).getByText('No connection').first().waitFor();
    await page.keyboard.press('Escape');
    await panel(page).waitFor({ state: 'detached' });

    let bytes = '';
    const slow = Promise.withResolvers<void>();
    const receiver = await shop((response, { body }) => {
      bytes = body;
      void slow.promise.then(() => response.end());
    });
    await act(page, 'Change endpoint');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill(receiver.url);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Retry all' }).click();
    await dialog.getByRole('button', { name: 'Retry all' }).click();
    await page.getByText(/Deliveries that a restart interrupted continue automatically within a minute/).waitFor();
    slow.resolve();
    await page.getByText('Events delivered: 1 of 1.').waitFor();
    await page.getByLabel('State').selectOption('delivered');
    await page.waitForURL(/state=delivered/);
    await page.getByRole('button', { name: 'order.created' }).waitFor();

    await act(page, 'Change endpoint');
    await dialog.getByRole('button', { name: 'Choose none' }).click();
    await dialog.getByLabel('order.created').check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('1 event', { exact: true }).waitFor();

    await page.keyboard.press('g');
    await page.keyboard.press('e');
    await heading(page, 'Events').waitFor();
    await page.getByRole('table', { name: 'Events' }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    const event = page.getByRole('complementary', { name: 'Event' });
    expect(await event.getByLabel('Body', { exact: true }).textContent()).toBe(bytes);
    expect(await violations(page, 'an event')).toEqual([]);
    expect(await page.title()).not.toBe('1');
  });

  it('lead from a payment to its events, show the gap of a restore, and send an event again', async () => {
    const receiver = await shop();
    const { page } = await dashboard.openSignedIn();
    const { service } = dashboard;
    const inProject = `${service.dashboard}/projects/${service.projectId}/test`;
    const dialog = page.getByRole('dialog');
    await page.goto(`${inProject}/webhooks`);
    await act(page, 'Change endpoint');
    await dialog.getByLabel('URL').fill(receiver.url);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await act(page, 'Pause endpoint');
    await dialog.getByRole('button', { name: 'Pause endpoint' }).click();
    await page.getByText('Endpoint paused.').waitFor();

    const order = await dashboard.makeOrder();
    await page.goto(`${inProject}/payments/${order}`);
    await page.getByRole('region', { name: 'Timeline' }).getByRole('link', { name: 'Events' }).click();
    await heading(page, 'Events').waitFor();
    const table = page.getByRole('table', { name: 'Events' });
    const row = table.getByRole('row').filter({ hasText: 'order.created' });
    await row.getByRole('cell', { name: /^#\d+$/ }).waitFor();
    expect([await row.count(), await page.getByLabel('Payment ID').inputValue()]).toEqual([1, order]);
    await skipPositions(service.database.db, 1_000_000, 'restored');
    await page.reload();
    await table.getByText(/^The events at positions \d+ to 1,000,\d+ are unknown/).waitFor();
    await page.getByText(/^Newest position: 1,000,\d+$/).waitFor();
    expect(await violations(page, 'the log of events with a gap')).toEqual([]);

    await row.getByRole('button', { name: 'order.created' }).click();
    const again = page.getByRole('complementary', { name: 'Event' }).getByRole('button', { name: 'Send again' });
    await again.click();
    await dialog.getByText('No webhook endpoint is on.').waitFor();
    await dialog.getByRole('link', { name: 'Webhooks' }).click();
    await act(page, 'Enable endpoint');
    await dialog.getByRole('button', { name: 'Enable endpoint' }).click();
    await page.getByText('Endpoint enabled.').waitFor();
    await page.goBack();
    await row.getByText('1 of 1').waitFor();
    await again.click();
    expect(await violations(page, 'the form that sends an event again')).toEqual([]);
    await dialog.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('Sent again to 1 endpoint.').waitFor();
    await row.getByText('2 of 2').waitFor();
    expect(receiver.requests.map(({ body }) => body)).toEqual([receiver.requests[0]?.body, receiver.requests[0]?.body]);
  });

  it('and Requests says why a call was refused', async () => {
    const refused = await dashboard.service.api('/v1/orders', { amount: -1, currency: 'USD', crypto_currency: 'BTC' });
    expect(refused.status).toBe(400);
    const { page } = await dashboard.openSignedIn();
    await page.goto(`${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/test`);
    await page.getByText('Up to date').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await heading(page, 'Requests').waitFor();
    const refusedRow = page.getByRole('row').filter({ hasText: '400' }).first();
    // The log is written in batches, and a list that is open does not move by itself.
    await expect
      .poll(async () => {
        await page.reload();
        await page.getByRole('table', { name: 'Requests' }).waitFor();
        return refusedRow.count();
      })
      .toBe(1);
    await refusedRow.getByRole('button', { name: 'POST /v1/orders' }).click();
    const call = page.getByRole('complementary', { name: 'Request' });
    await call.getByText('Why the request was refused').waitFor();
    await call.getByText(/^amount must/).waitFor();
    expect(await violations(page, 'a refused request')).toEqual([]);
    await page.getByLabel('Outcome').selectOption('accepted');
    await page.waitForURL(/outcome=accepted/);
    await page.getByRole('row').filter({ hasText: '400' }).waitFor({ state: 'detached' });
  });
});
